"""Workflows: every node becomes what its upstreams' ends say, and callbacks come once, whoever dies on the way."""

import asyncio
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from oxpull_async import Node, Oxpull, Worker, Workflow, WorkflowProgress
from oxpull_async.app.task import Call
from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch_counts import counted_as
from oxpull_async.domain.record import TaskRecord
from tests.fixtures import workflows as made
from tests.fixtures.waiting import until
from tests.fixtures.workers import working
from tests.scenarios.batches import DEAREST, SettleCost, check_callbacks, compare_settles
from tests.scenarios.dags import Step, check_dag, fates, random_dag
from tests.scenarios.mayhem import mayhem
from tests.scenarios.proof import Proof, proof
from tests.scenarios.stage import Stage, stage

APART = 10_000
STEP_BY_STEP = 4
MOST_NODES, RARE = 50, 10
SEED = 20_291


@dataclass(frozen=True, slots=True)
class Random:
    """Random graphs that were run by two workers; every fourth was built step by step while they ran."""

    workflows: int
    nodes: int
    edges: int
    succeeded: int
    failed: int
    discarded: int
    callbacks: int
    killed: int


@dataclass(frozen=True, slots=True)
class Built:
    """A workflow with the graph that it was built from."""

    flow: Workflow
    dag: Sequence[Step]


async def random_graphs(
    url: str, *, count: int, kills: int, most: int = 18, lease_seconds: float = 2.0, within: float = 600.0
) -> Random:
    """Run random workflows while workers are killed, and hold each against what must become of it."""
    dice = random.Random(SEED)
    dags = [random_dag(dice, most if number % RARE else MOST_NODES) for number in range(count)]
    async with stage(url, lease_seconds=lease_seconds) as scene:
        async with mayhem(scene, "--concurrency=100", workers=2, kills=kills) as havoc:
            built = [await _build(scene, number, dag) for number, dag in enumerate(dags)]
            open_ones = list(built)
            await until(
                partial(_none_left, open_ones),
                within=within,
                what=f"all workflows complete; logs:\n{scene.logs()}",
                every=0.2,
            )
        rows = {record.id: record for record in await scene.records()}
        callbacks = _callbacks(rows.values())
        for number, one in enumerate(built):
            await _check(one, rows, callbacks.get(number, []))
        check_followed([worker.log for worker in scene.fleet.workers])
        ends = [fate for dag in dags for fate in fates(dag).values()]
        return Random(
            workflows=count,
            nodes=len(ends),
            edges=sum(len(step.upstreams) for dag in dags for step in dag),
            succeeded=sum(fate.succeeds for fate in ends),
            failed=sum(fate.runs and not fate.succeeds for fate in ends),
            discarded=sum(not fate.runs for fate in ends),
            callbacks=sum(map(len, callbacks.values())),
            killed=len(havoc.killed),
        )


def check_progress(progress: WorkflowProgress, rows: Sequence[TaskRecord]) -> None:
    """Fail where the counts of a complete workflow are not what the rows say."""
    counted = [str(counted_as(row.status)) for row in rows]
    said = {"succeeded": progress.succeeded, "failed": progress.failed, "unattributed": progress.unattributed}
    assert said == {name: counted.count(name) for name in said}, (said, counted)
    assert (progress.total, progress.pending, progress.blocked) == (len(rows), 0, 0), progress


def check_followed(logs: Iterable[str]) -> None:
    """Fail where a reconciler had to put right what no mark asked for."""
    unforeseen = [line for log in logs for line in log.splitlines() if "without being followed" in line]
    assert not unforeseen, "\n".join(unforeseen)


async def _build(scene: Stage, number: int, dag: Sequence[Step]) -> Built:
    told = scene.task("ended")
    flow = await scene.ox.create_workflow(
        f"random {number}",
        on_complete=told.call("complete", number),
        on_success=told.call("success", number),
        on_failure=told.call("failure", number),
    )
    nodes = [
        Node(step.name, _call(scene, number * APART + place, step), step.upstreams) for place, step in enumerate(dag)
    ]
    if number % STEP_BY_STEP:
        await flow.add_many(nodes)
    else:
        for node in nodes:
            await flow.add(node.name, node.call.task, *node.call.args, depends_on=node.depends_on)
    await flow.seal()
    return Built(flow, dag)


def _call(scene: Stage, number: int, step: Step) -> Call[Any]:
    name, attempts = ("fails", 1) if step.fails else ("adds_up", 10)
    return scene.task(name, max_attempts=attempts).call(number)


async def _none_left(left: list[Built]) -> bool:
    """Drop what is complete; true once nothing is left."""
    while left and (await left[-1].flow.progress()).status == "COMPLETE":
        left.pop()
    return not left


async def _check(one: Built, rows: dict[str, TaskRecord], callbacks: Sequence[TaskRecord]) -> None:
    ids = await one.flow.node_ids()
    check_dag(one.dag, {name: rows[id_] for name, id_ in ids.items()})
    progress = await one.flow.progress()
    check_progress(progress, [rows[id_] for id_ in ids.values()])
    check_callbacks(progress, callbacks)


def _callbacks(rows: Iterable[TaskRecord]) -> dict[int, list[TaskRecord]]:
    """Part the callbacks by the number of their workflow."""
    found: dict[int, list[TaskRecord]] = {}
    for row in rows:
        if row.task_path.endswith(".ended"):
            found.setdefault(row.args[1], []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of tasks that do nothing, run by one worker; `bar` is the most seconds it may take."""

    nodes: int
    bar: float
    seconds: float
    a_second: int


async def chain(url: str, *, nodes: int, bar: float) -> Chain:
    """Run a chain, each node of which is released by the settle of the one before it."""
    async with Oxpull(url) as ox:
        await ox.migrate()
        nothing = ox.task(_nothing)
        async with ox.workflow("chain") as flow:
            await flow.add_many(
                [Node(str(place), nothing.call(), str(place - 1) if place else None) for place in range(nodes)]
            )
        begun = time.perf_counter()
        await Worker(ox, burst=True).run()
        seconds = time.perf_counter() - begun
        progress = await flow.progress()
    assert (progress.succeeded, progress.status) == (nodes, "COMPLETE"), progress
    assert seconds <= bar, f"{nodes} nodes in {seconds:.1f} s"
    return Chain(nodes, bar, round(seconds, 2), round(nodes / seconds))


@dataclass(frozen=True, slots=True)
class Wide:
    """One call that added all nodes of a layered workflow, and how long its run and its end took.

    `cascade_seconds`: from the failure of the one root of another such workflow to the discard of all behind it.
    """

    nodes: int
    edges: int
    add_seconds: float
    run_seconds: float
    cascade_seconds: float


async def wide(url: str, *, nodes: int, width: int) -> Wide:
    """Add layers of nodes in one call and run them; then the same behind a root that fails."""
    async with Oxpull(url) as ox:
        await ox.migrate()
        nothing, fails = ox.task(_nothing), ox.task(max_attempts=1)(_fails)
        layered = [
            Node(str(place), nothing.call(), [str(upstream) for upstream in _above(place, width)])
            for place in range(nodes)
        ]
        begun = time.perf_counter()
        async with ox.workflow("wide") as flow:
            await flow.add_many(layered)
        add_seconds = time.perf_counter() - begun
        run_seconds = await _completed(ox, flow)
        assert (await flow.progress()).succeeded == nodes
        async with ox.workflow("doomed") as doomed:
            await doomed.add("root", fails)
            await doomed.add_many([replace(node, depends_on=["root", *_names(node)]) for node in layered])
        cascade_seconds = await _completed(ox, doomed)
        progress = await doomed.progress()
        assert (progress.failed, progress.unattributed) == (1, nodes), progress
    edges = sum(len(_names(node)) for node in layered)
    return Wide(nodes, edges, round(add_seconds, 2), round(run_seconds, 2), round(cascade_seconds, 2))


async def settle_cost(url: str, *, small: int, large: int, bar: float | None = DEAREST) -> SettleCost:
    """Settle nodes of a small and of a large workflow in turn, each of which releases another, and compare."""
    return await compare_settles(url, _fill, small=small, large=large, bar=bar)


async def _fill(conn: Connection, queue_name: str, size: int) -> None:
    workflow = await made.opened(conn)
    for start in range(0, size, 5_000):
        places = range(start, min(start + 5_000, size))
        await made.add(conn, workflow.id, *(made.node(f"a{place}") for place in places), queue_name=queue_name)
        await made.add(conn, workflow.id, *(made.node(f"b{place}", f"a{place}") for place in places), queue_name="b")


def _names(node: Node) -> list[str]:
    return list(node.depends_on or ())


def _above(place: int, width: int) -> set[int]:
    """Name the three nodes of the layer above that a node depends on."""
    layer, column = divmod(place, width)
    return {(layer - 1) * width + (column + step) % width for step in (-1, 0, 1)} if layer else set()


async def _completed(ox: Oxpull, flow: Workflow) -> float:
    """Run a worker until a workflow is complete; returns the seconds."""

    async def complete() -> bool:
        return (await flow.progress()).status == "COMPLETE"

    begun = time.perf_counter()
    async with working(ox):
        await until(complete, within=300.0, what="the workflow completes")
        return time.perf_counter() - begun


async def _nothing() -> None:
    pass


async def _fails() -> None:
    raise ValueError("no")


PROOFS = [
    proof(
        "1,000 random workflows become what their edges say while workers are killed",
        "D3, A8",
        partial(random_graphs, count=1_000, kills=10),
    ),
    proof(
        "settling a node of a 100,000-node workflow costs at most 1.2 times that of a 400-node workflow", "D1",
        partial(settle_cost, small=200, large=50_000),
    ),
    Proof(
        "a chain of 1,000 no-op nodes takes one worker less than 15 seconds", "D3",
        lambda url: asyncio.run(chain(url, nodes=1_000, bar=15)), alone=True,
    ),
    proof(
        "10,000 nodes are added in one call, run, and discarded behind one failure", "D3, A8",
        partial(wide, nodes=10_000, width=100),
    ),
]  # fmt: skip
