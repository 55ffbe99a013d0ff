"""Measure oxpull-async beside its peers: everybody once, then everybody again, so that the machine's moods hit all."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.comparison import Comparison, Row
from benchmarks.contestants import BESIDE, IDLE, PROGRAMS, SNAPSHOT, WORKLOADS, Contestant
from benchmarks.environments import NotInstalled, environment, python_of
from benchmarks.places import NoPlace, Places, Transactions, held_snapshot
from benchmarks.workload import Scale

PATIENCE = 900.0

type Answer = dict[str, Any]


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
            filled = await self._filled(ready, workload)
            for number in range(self._scale.repeats):
                for one in ready:
                    if (one.contestant.name, workload) not in self._not_run:
                        self._tell(f"{workload}, round {number + 1} of {self._scale.repeats}: {one.contestant.name}")
                        await self._sample(one, workload, number, filled.get(one.contestant.name))
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

    async def _filled(self, ready: Sequence[_Ready], workload: str) -> dict[str, _Ready]:
        """Make a second database of those that a workload is for, in which many rows stand besides the work."""
        filled: dict[str, _Ready] = {}
        for one in ready if workload in BESIDE else ():
            kind, priority = BESIDE[workload]
            statement = one.contestant.statement(kind)
            if statement is None:
                self._refuse(one, workload, "its tables are not filled here")
                continue
            self._tell(f"{workload}: filling a table of {one.contestant.name}")
            url = await self._places.make(one.contestant)
            filled[one.contestant.name] = other = _Ready(one.contestant, one.python, url)
            await _ask(other, self._request(other, workload) | {"workload": "prepare"})
            await self._places.fill(url, statement, self._scale.other_rows, priority)
            await self._places.tidy(one.contestant, url)
        return filled

    async def _sample(self, one: _Ready, workload: str, number: int, filled: _Ready | None) -> None:
        name = one.contestant.name
        if reason := _unfit(one.contestant, workload):
            self._refuse(one, workload, reason)
            return
        samples = self._samples.setdefault((name, workload), [None] * self._scale.repeats)
        async with self._surroundings(one, workload) as around:
            answer = await _ask(one, self._request(one, workload))
        if filled is not None and "value" in answer:
            answer = _share(answer, await _ask(filled, self._request(filled, workload) | {"keep": True}))
            await self._places.tidy(filled.contestant, filled.url)
        if "value" in answer:
            value = answer["value"]
            samples[number] = value if around is None else around.a_minute(value)
            self._found.packages[name] = answer["packages"]
        elif "not_run" in answer:
            self._refuse(one, workload, answer["not_run"])
        else:
            self._refuse(one, workload, f"failed in round {number + 1}: {answer['failed']}")
            self._tell(f"{name} failed at {workload}: {answer['failed']}")
        await self._places.tidy(one.contestant, one.url)

    def _surroundings(self, one: _Ready, workload: str) -> AbstractAsyncContextManager[Transactions | None]:
        if workload == SNAPSHOT:
            return held_snapshot(one.url)
        return Transactions(self._places.url, one.url) if workload == IDLE else nullcontext()

    def _refuse(self, one: _Ready, workload: str, reason: str) -> None:
        self._found.not_run[f"{one.contestant.name}: {workload}"] = reason

    def _request(self, one: _Ready, workload: str) -> dict[str, Any]:
        scale, contestant = self._scale, one.contestant
        share = contestant.share_beside(BESIDE[workload][0]) if workload in BESIDE else contestant.share
        return {
            "workload": workload,
            "url": one.url,
            "tally": str(self._folder / "tally"),
            "settings": contestant.settings_for(workload),
            "processes": 2 if workload == "drain, 2 processes" else 1,
            "single": scale.single,
            "callers": scale.callers,
            "bulk": scale.bulk,
            "drained": int(scale.drained * share),
            "flowing": int(scale.flowing * share),
            "naps": scale.naps,
            "pick_ups": scale.pick_ups,
            "idle": scale.idle_seconds,
        }

    def _rows(self, contestant: Contestant, workload: str) -> list[Row]:
        samples = self._samples.get((contestant.name, workload), [])
        settings, unit = contestant.settings_for(workload), WORKLOADS[workload]
        match workload:
            case "pick-up":
                halves = [waits and median(waits) for waits in samples]
                late = [waits and quantiles(waits, n=20)[-1] for waits in samples]
                parts = {"pick-up, median": halves, "pick-up, 95 of 100": late}
                return [Row(name, unit, contestant.name, values, settings) for name, values in parts.items()]
            case "naps":
                rates, most = ([pair and pair[name] for pair in samples] for name in ("rate", "memory"))
                return [
                    Row("naps", unit, contestant.name, rates, settings),
                    Row("naps, most memory", "MB", contestant.name, most, settings),
                ]
            case "idle worker":
                shares, counts = ([pair and pair[place] for pair in samples] for place in (0, 1))
                return [
                    Row("idle worker, processor", "%", contestant.name, shares, settings),
                    Row("idle worker, transactions", "a minute", contestant.name, counts, settings),
                ]
            case _:
                return [Row(workload, unit, contestant.name, samples, settings)]


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


def _unfit(contestant: Contestant, workload: str) -> str | None:
    """Say why a workload is not for a contestant."""
    on_postgres = (SNAPSHOT, IDLE, *BESIDE)
    return "it is measured on PostgreSQL" if workload in on_postgres and contestant.store != "postgres" else None


def _share(empty: Answer, filled: Answer) -> Answer:
    return {**filled, "value": filled["value"] / empty["value"]} if "value" in filled else filled


async def _ask(one: _Ready, request: dict[str, Any]) -> Answer:
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
    answer: Answer = json.loads(lines[-1])
    return answer
