"""Unique tasks: fresh keys and duplicates of one pending key, by one caller and by 50 at once."""

import asyncio
import time

from benchmarks.workload import Bench, Workload


async def fresh(bench: Bench) -> float:
    task, count = bench.task.using(unique=True), bench.scale.single
    start = time.perf_counter()
    for number in range(count):
        await task.enqueue(number)
    return count / (time.perf_counter() - start)


async def duplicates(bench: Bench) -> float:
    task, count = bench.task.using(unique=True), bench.scale.single
    await task.enqueue(0)
    start = time.perf_counter()
    created = sum([(await task.enqueue(0)).created for _ in range(count)])
    took = time.perf_counter() - start
    assert not created
    return count / took


async def storm(bench: Bench) -> float:
    """Let all callers want one free key at once, again and again."""
    task, callers = bench.task.using(unique=True), bench.scale.callers
    rounds = max(bench.scale.single // callers, 1)
    start = time.perf_counter()
    for number in range(rounds):
        results = await asyncio.gather(*[task.enqueue(number) for _ in range(callers)])
        assert sum(result.created for result in results) == 1, "a key has one holder"
    return rounds * callers / (time.perf_counter() - start)


WORKLOADS = (
    Workload("unique, fresh keys", "tasks/s", fresh),
    Workload("unique, duplicates of one key", "tasks/s", duplicates),
    Workload("unique, 50 callers of one key", "tasks/s", storm),
)
