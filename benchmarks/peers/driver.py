"""What the programs of all contestants share: the workloads, the count of executions, the worker processes.

A program runs in an environment of its own contestant, so this imports nothing but the standard library.
"""

import asyncio
import json
import mmap
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

SLOTS, SLOT, MARKS = 8, 3, 24
PATIENCE = 300.0
NAP, TENTHS, SETTLING = 0.1, 10, 12.0


class Tally:
    """Executions as the bodies count them, in memory that the processes share.

    Each worker process has a slot (count, first, last); behind the slots is the instant of each task's last body.
    """

    def __init__(self, path: Path, slot: int) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._values = memoryview(self._map).cast("q")
        self._at = slot * SLOT

    @classmethod
    def made(cls, path: Path, marks: int) -> "Tally":
        path.write_bytes(bytes(8 * (MARKS + marks)))
        return cls(path, 0)

    def hit(self, number: int) -> None:
        values, at, now = self._values, self._at, time.monotonic_ns()
        values[at] += 1
        values[at + 1] = values[at + 1] or now
        values[at + 2] = now
        values[MARKS + number] = now

    @property
    def count(self) -> int:
        return sum(self._values[slot * SLOT] for slot in range(SLOTS))

    @property
    def first(self) -> int:
        return min(first for slot in range(SLOTS) if (first := self._values[slot * SLOT + 1]))

    @property
    def last(self) -> int:
        return max(self._values[slot * SLOT + 2] for slot in range(SLOTS))

    def mark(self, number: int) -> int:
        return int(self._values[MARKS + number])


class Contestant:
    """A task queue under measurement; a subclass says how its calls are made. `lacks` says what it cannot do."""

    packages: tuple[str, ...] = ()
    lacks: ClassVar[dict[str, str]] = {}

    def __init__(self, url: str, settings: dict[str, Any]) -> None:
        self.url = url
        self.settings = settings
        self.has_many_callers = False
        self.tally: Tally

    async def setup(self) -> None:
        """Make the schema if need be, and leave no task in it."""
        raise NotImplementedError

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def enqueue(self, number: int) -> None:
        raise NotImplementedError

    async def enqueue_nap(self, number: int) -> None:
        raise NotImplementedError

    async def enqueue_bulk(self, numbers: range) -> None:
        raise NotImplementedError

    async def enqueue_unique(self, number: int, key: str) -> None:
        raise NotImplementedError

    async def unfinished(self) -> int:
        """Count the tasks that are not marked done, where a database can be asked."""
        return 0

    def work(self) -> None:
        """Work until the process is ended; each body calls `self.tally.hit(number)`."""
        raise NotImplementedError


async def sequential(contestant: Contestant, request: dict[str, Any]) -> float:
    await contestant.enqueue(0)
    start = time.perf_counter()
    for number in range(request["single"]):
        await contestant.enqueue(number)
    return request["single"] / (time.perf_counter() - start)


async def concurrent(contestant: Contestant, request: dict[str, Any]) -> float:
    contestant.has_many_callers = True
    each = max(request["single"] * 5 // request["callers"], 1)

    async def caller(first: int) -> None:
        for number in range(each):
            await contestant.enqueue(first + number)

    await asyncio.gather(*[contestant.enqueue(0) for _ in range(request["callers"])])
    start = time.perf_counter()
    await asyncio.gather(*[caller(number * each) for number in range(request["callers"])])
    return request["callers"] * each / (time.perf_counter() - start)


async def bulk(contestant: Contestant, request: dict[str, Any]) -> float:
    await contestant.enqueue(0)
    start = time.perf_counter()
    await contestant.enqueue_bulk(range(request["bulk"]))
    return request["bulk"] / (time.perf_counter() - start)


async def unique_fresh(contestant: Contestant, request: dict[str, Any]) -> float:
    await contestant.enqueue(0)
    start = time.perf_counter()
    for number in range(request["single"]):
        await contestant.enqueue_unique(number, f"key {number}")
    return request["single"] / (time.perf_counter() - start)


async def unique_duplicates(contestant: Contestant, request: dict[str, Any]) -> float:
    await contestant.enqueue_unique(0, "hot")
    start = time.perf_counter()
    for number in range(request["single"]):
        await contestant.enqueue_unique(number, "hot")
    return request["single"] / (time.perf_counter() - start)


async def drain(contestant: Contestant, request: dict[str, Any]) -> float:
    """From the first body until the database shows nothing unfinished; where it cannot be asked, to the last body."""
    count = request["drained"]
    await contestant.enqueue_bulk(range(count))
    with workers(contestant, request, request["processes"]):
        await until(lambda: contestant.tally.count >= count)
        ended = contestant.tally.last
        while await contestant.unfinished():
            ended = time.monotonic_ns()
            await asyncio.sleep(0.002)
    if (ran := contestant.tally.count) != count:
        raise RuntimeError(f"{ran} executions of {count} tasks")
    return count / ((ended - contestant.tally.first) / 1e9)


async def naps(contestant: Contestant, request: dict[str, Any]) -> dict[str, float]:
    """Run bodies that sleep for a tenth of a second; give their rate, and the most memory that the worker had."""
    count = request["naps"]
    for number in range(count):
        await contestant.enqueue_nap(number)
    with workers(contestant, request, 1) as processes:
        await until(lambda: contestant.tally.count >= count)
        memory = sum(map(_most_memory, processes))
    return {"rate": count / ((contestant.tally.last - contestant.tally.first) / 1e9 + NAP), "memory": memory}


def _most_memory(process: "subprocess.Popen[bytes]") -> float:
    """Return how many MB a process has had at most, as Linux tells it."""
    [line] = [one for one in Path(f"/proc/{process.pid}/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


async def flow(contestant: Contestant, request: dict[str, Any]) -> float:
    """Let tasks flow through one worker in ten parts; give the last part's rate as a share of the first one's."""
    each, rates = request["flowing"] // TENTHS, []
    with workers(contestant, request, 1):
        await contestant.enqueue_bulk(range(request["pick_ups"]))
        await until(lambda: contestant.tally.count >= request["pick_ups"])
        for part in range(1, TENTHS + 1):
            wanted = request["pick_ups"] + part * each
            await contestant.enqueue_bulk(range(each))
            start, before = time.monotonic_ns(), contestant.tally.count
            await until(lambda wanted=wanted: contestant.tally.count >= wanted)
            rates.append((wanted - before) / (contestant.tally.last - start))
    return rates[-1] / rates[0]


async def latency(contestant: Contestant, request: dict[str, Any]) -> list[float]:
    """Give the milliseconds from each call of enqueue to the body, at random moments on an idle queue."""
    waits = []
    with workers(contestant, request, 1):
        for number in range(request["pick_ups"] + 3):
            start = time.monotonic_ns()
            await contestant.enqueue(number)
            await until(lambda number=number: contestant.tally.mark(number) > 0)
            waits.append((contestant.tally.mark(number) - start) / 1e6)
            await asyncio.sleep(random.uniform(0.01, 0.1))
    return sorted(waits[3:])


async def bodies(contestant: Contestant, request: dict[str, Any]) -> float:
    """Drain a backlog and give the rate from the first body to the last, whatever else the table holds."""
    count = request["drained"]
    await contestant.enqueue_bulk(range(count))
    with workers(contestant, request, 1):
        await until(lambda: contestant.tally.count >= count)
    return count / ((contestant.tally.last - contestant.tally.first) / 1e9)


async def idle(contestant: Contestant, request: dict[str, Any]) -> dict[str, float]:
    """Leave a worker alone that has run a task; give its share of a processor, and from when to when that was."""
    with workers(contestant, request, 1) as processes:
        await contestant.enqueue(0)
        await until(lambda: contestant.tally.count > 0)
        await asyncio.sleep(min(SETTLING, request["idle"]))
        began, used = time.monotonic(), sum(map(_processor, processes))
        await asyncio.sleep(request["idle"])
        ended = time.monotonic()
        used = sum(map(_processor, processes)) - used
    return {"processor": used / (ended - began) * 100, "from": began, "to": ended}


def _processor(process: "subprocess.Popen[bytes]") -> float:
    """Return the seconds of processor time that a process and its children have used, as Linux tells them."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


async def prepare(_: Contestant, __: dict[str, Any]) -> None:
    """Make the schema; that is done already."""


async def until(condition: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - it is other processes that make it true
            await asyncio.sleep(0.001)


@contextmanager
def workers(contestant: Contestant, request: dict[str, Any], number: int) -> Iterator[list[Any]]:
    """Run worker processes of this program for the block."""
    command = [sys.executable, sys.argv[0], "worker", json.dumps(request)]
    with tempfile.TemporaryFile() as said:
        started = [
            subprocess.Popen(command, env={**os.environ, "BENCH_SLOT": str(slot)}, stdout=said, stderr=said)
            for slot in range(number)
        ]
        try:
            yield started
        except TimeoutError:
            said.seek(0)
            words = said.read().decode(errors="replace")[-2000:]
            raise RuntimeError(f"{contestant.tally.count} executions within {PATIENCE} s: {words}") from None
        finally:
            for process in started:
                process.terminate()
            for process in started:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                process.kill()
                process.wait()


ACTIONS = {
    "enqueue, one caller": sequential,
    "enqueue, 50 callers": concurrent,
    "bulk": bulk,
    "unique, fresh keys": unique_fresh,
    "unique, duplicates": unique_duplicates,
    "drain, 1 process": drain,
    "drain, 2 processes": drain,
    "pick-up": latency,
    "naps": naps,
    "flow beside a held snapshot": flow,
    "drain beside ended tasks": bodies,
    "drain beside scheduled tasks": bodies,
    "drain beside more urgent scheduled tasks": bodies,
    "idle worker": idle,
    "prepare": prepare,
}


async def measured(contestant: Contestant, request: dict[str, Any]) -> Any:
    action = request["workload"]
    if action in contestant.lacks:
        return {"not_run": contestant.lacks[action]}
    if not request.get("keep"):
        await contestant.setup()
    await contestant.open()
    try:
        return {"value": await ACTIONS[action](contestant, request), "packages": versions(contestant)}
    finally:
        await contestant.close()


def versions(contestant: Contestant) -> dict[str, str]:
    found = {}
    for name in contestant.packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def main(kind: type[Contestant]) -> None:
    """Carry out what the command line asks of a contestant; print one JSON document."""
    what, request = sys.argv[1], json.loads(sys.argv[2])
    contestant, path = kind(request["url"], request["settings"]), Path(request["tally"])
    if what == "worker":
        contestant.tally = Tally(path, int(os.environ["BENCH_SLOT"]))
        contestant.work()
        return
    contestant.tally = Tally.made(path, max(request[name] for name in ("drained", "naps", "single", "bulk")) * 5 + 10)
    try:
        answer = asyncio.run(measured(contestant, request))
    except Exception as error:  # noqa: BLE001 - whatever a contestant raises is its result
        answer = {"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
    print(json.dumps(answer))
