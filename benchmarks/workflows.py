"""Workflows: nodes side by side between a first and a last one, and chains of nodes."""

from functools import partial

from benchmarks.drain import QUEUE, span
from benchmarks.fleet import until_done, workers
from benchmarks.workload import Bench, Workload
from oxpull_async import Node

CHAIN = 20


async def nodes(bench: Bench, *, chained: bool) -> float:
    """Give the rate of nodes from the first start to the last end."""
    count = bench.scale.nodes
    await bench.ox.pause(QUEUE)
    if chained:
        for start in range(0, count, CHAIN):
            async with bench.ox.workflow(f"chain {start}") as flow:
                await flow.add_many([_link(bench, number) for number in range(CHAIN)])
    else:
        async with bench.ox.workflow("side by side") as flow:
            middle = [f"node {number}" for number in range(count - 2)]
            await flow.add_many([
                Node("first", bench.task.call(0)),
                *[Node(name, bench.task.call(0), depends_on="first") for name in middle],
                Node("last", bench.task.call(0), depends_on=middle),
            ])  # fmt: skip
    async with workers(bench, processes=1, concurrency=100):
        await bench.ox.resume(QUEUE)
        await until_done(bench, count)
    return count / await span(bench)


def _link(bench: Bench, number: int) -> Node:
    return Node(f"link {number}", bench.task.call(number), depends_on=f"link {number - 1}" if number else None)


WORKLOADS = (
    Workload("workflow, nodes side by side", "nodes/s", partial(nodes, chained=False)),
    Workload("workflows, chains of 20", "nodes/s", partial(nodes, chained=True)),
)
