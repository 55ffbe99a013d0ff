"""How the speed of this project stands to that of others and of raw SQL: `benchmarks/bars.py` says what is promised."""

import asyncio
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from benchmarks.bars import BARS, BEST_PEER, Bar
from benchmarks.compare import compare
from benchmarks.comparison import Comparison
from benchmarks.contestants import OURS, beside
from benchmarks.places import REDIS
from benchmarks.workload import Scale
from tests.scenarios.proof import Proof

PEERS = ("pgqueuer", "oban", "chancy")
"""Who stands for the best peer: nobody else comes near them at that workload."""


@dataclass(frozen=True, slots=True)
class Stands:
    """What each bar asks for and what came out; where others are named, as a multiple of their figures."""

    rounds: int
    reached: tuple[str, ...]


def judged(comparison: Comparison, bars: tuple[Bar, ...], rounds: int) -> Stands:
    """Hold a comparison against bars; raises AssertionError for one that is missed."""
    reached = tuple(f"{bar.title} asked, {bar.reached(comparison):.4g} reached" for bar in bars)
    missed = [text for bar, text in zip(bars, reached, strict=True) if not bar.is_held(comparison)]
    assert not missed, "; ".join(missed)
    return Stands(rounds, reached)


def measured(bars: tuple[Bar, ...], scale: Scale, url: str) -> Comparison:
    """Measure those whom some bars of one workload name, in one run."""
    others = {bar.other for bar in bars}
    names = {OURS, *others, *(PEERS if BEST_PEER in others else ())}
    contestants = [one for one in beside(bars[0].store) if one.name in names]
    return asyncio.run(compare(url, REDIS, scale, (contestants, [bars[0].workload]), lambda _: None))


def _run(bars: tuple[Bar, ...], url: str) -> Stands:
    scale = Scale()
    return judged(measured(bars, scale, url), bars, scale.repeats)


def _proofs() -> list[Proof]:
    groups = groupby(BARS, key=lambda bar: (bar.store, bar.workload))
    return [
        Proof(f"the speed of {workload}", "speed", partial(_run, tuple(bars)), databases=(store,), alone=True)
        for (store, workload), bars in groups
    ]


PROOFS: list[Proof] = _proofs()
