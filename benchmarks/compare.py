"""Measure oxpull-async beside its peers: everybody once, then everybody again, so that the machine's moods hit all."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.contestants import OURS, PROGRAMS, RAW, SNAPSHOT, WORKLOADS, Contestant
from benchmarks.environments import NotInstalled, environment, python_of
from benchmarks.places import NoPlace, Places, held_snapshot
from benchmarks.workload import Scale

PATIENCE = 900.0


@dataclass(frozen=True, slots=True)
class Row:
    """What one contestant came to in one workload; a sample is None for a round in which it failed."""

    workload: str
    unit: str
    contestant: str
    samples: list[float | None]
    settings: dict[str, Any]

    @property
    def values(self) -> list[float]:
        return [sample for sample in self.samples if sample is not None]

    @property
    def median(self) -> float:
        return median(self.values)


@dataclass(slots=True)
class Comparison:
    """The rows of a run, who did not run where and why, and what was found installed."""

    rows: list[Row] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    packages: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, workload: str) -> list[Row]:
        return [row for row in self.rows if row.workload == workload and row.values]

    def workloads(self) -> list[str]:
        return list(dict.fromkeys(row.workload for row in self.rows if row.values))

    def ahead(self, row: Row, of: str = OURS) -> float | None:
        """Say how many times as fast another contestant was: the median of the ratios within the rounds."""
        other = next((one for one in self.of(row.workload) if one.contestant == of), None)
        if other is None:
            return None
        pairs = [(a, b) for a, b in zip(other.samples, row.samples, strict=True) if a and b]
        if not pairs:
            return None
        return median(b / a if row.unit == "ms" else a / b for a, b in pairs)

    def best_peer(self, workload: str) -> Row | None:
        peers = [row for row in self.of(workload) if row.contestant != RAW and not row.contestant.startswith(OURS)]
        pick = min if peers and peers[0].unit == "ms" else max
        return pick(peers, key=lambda row: row.median, default=None)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A contestant with its interpreter and its database."""

    contestant: Contestant
    python: Path
    url: str


class Runner:
    """Runs contestants in their own processes; `tell` is called with what happens now."""

    def __init__(self, places: Places, scale: Scale, folder: Path, tell: Callable[[str], None]) -> None:
        self._places = places
        self._scale = scale
        self._folder = folder
        self._tell = tell
        self._found = Comparison()
        self._samples: dict[tuple[str, str], list[Any]] = {}

    async def run(self, contestants: Sequence[Contestant], workloads: Sequence[str]) -> Comparison:
        """Measure contestants in turn, workload by workload, as often as the scale says."""
        ready = [one for contestant in contestants if (one := await self._prepare(contestant)) is not None]
        for workload in workloads:
            for number in range(self._scale.repeats):
                for one in ready:
                    if (one.contestant.name, workload) not in self._not_run:
                        self._tell(f"{workload}, round {number + 1} of {self._scale.repeats}: {one.contestant.name}")
                        await self._sample(one, workload, number)
        for one in ready:
            for workload in workloads:
                self._found.rows += self._rows(one.contestant, workload)
        return self._found

    @property
    def _not_run(self) -> set[tuple[str, str]]:
        return {(name, workload) for text in self._found.not_run for name, _, workload in [text.partition(": ")]}

    async def _prepare(self, contestant: Contestant) -> _Ready | None:
        self._tell(f"preparing {contestant.name}")
        try:
            python = await asyncio.to_thread(python_of, contestant)
            return _Ready(contestant, python, await self._places.make(contestant))
        except (NotInstalled, NoPlace) as reason:
            self._found.not_run[contestant.name] = str(reason)
            return None

    async def _sample(self, one: _Ready, workload: str, number: int) -> None:
        name = one.contestant.name
        samples = self._samples.setdefault((name, workload), [None] * self._scale.repeats)
        if workload == SNAPSHOT and one.contestant.store != "postgres":
            self._found.not_run[f"{name}: {workload}"] = "it is measured on PostgreSQL"
            return
        async with held_snapshot(one.url) if workload == SNAPSHOT else nullcontext():
            answer = await _ask(one, self._request(one, workload))
        if "value" in answer:
            samples[number] = answer["value"]
            self._found.packages[name] = answer["packages"]
        elif "not_run" in answer:
            self._found.not_run[f"{name}: {workload}"] = answer["not_run"]
        else:
            self._found.not_run[f"{name}: {workload}"] = f"failed in round {number + 1}: {answer['failed']}"
            self._tell(f"{name} failed at {workload}: {answer['failed']}")
        await self._places.tidy(one.contestant, one.url)

    def _request(self, one: _Ready, workload: str) -> dict[str, Any]:
        scale = self._scale
        return {
            "workload": workload,
            "url": one.url,
            "tally": str(self._folder / "tally"),
            "settings": one.contestant.settings_for(workload),
            "processes": 2 if workload == "drain, 2 processes" else 1,
            "single": scale.single,
            "callers": scale.callers,
            "bulk": scale.bulk,
            "drained": int(scale.drained * one.contestant.share),
            "flowing": int(scale.flowing * one.contestant.share),
            "naps": scale.naps,
            "pick_ups": scale.pick_ups,
        }

    def _rows(self, contestant: Contestant, workload: str) -> list[Row]:
        samples = self._samples.get((contestant.name, workload), [])
        settings, unit = contestant.settings_for(workload), WORKLOADS[workload]
        if workload != "pick-up":
            return [Row(workload, unit, contestant.name, samples, settings)]
        halves = [waits and median(waits) for waits in samples]
        late = [waits and quantiles(waits, n=20)[-1] for waits in samples]
        return [
            Row("pick-up, median", unit, contestant.name, halves, settings),
            Row("pick-up, 95 of 100", unit, contestant.name, late, settings),
        ]


async def compare(
    url: str, redis: str, scale: Scale, chosen: tuple[Sequence[Contestant], Sequence[str]], tell: Callable[[str], None]
) -> Comparison:
    """Measure chosen contestants on chosen workloads, in databases made for it beside the one that a URL names."""
    with tempfile.TemporaryDirectory() as name:
        places = Places(url, Path(name), redis)
        try:
            return await Runner(places, scale, Path(name), tell).run(*chosen)
        finally:
            await places.close()


async def _ask(one: _Ready, request: dict[str, Any]) -> dict[str, Any]:
    """Run one sample in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        str(one.python), str(PROGRAMS / one.contestant.program), "measure", json.dumps(request),
        env=environment(one.contestant), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        said, cried = await asyncio.wait_for(process.communicate(), PATIENCE)
    except TimeoutError:
        return {"failed": f"no end within {PATIENCE:g} s"}
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
    lines = said.decode().splitlines()
    if process.returncode or not lines:
        last = cried.decode(errors="replace").strip().splitlines()[-1:]
        return {"failed": last[0] if last else f"ended with {process.returncode}"}
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer
