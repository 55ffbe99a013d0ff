"""Random graphs, built and run in random steps: every node ends as its edges say, and nothing is left for the walk."""

import random
from collections.abc import Mapping, Sequence

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Settlement
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.domain.workflow import OnFailure, PlannedNode, WorkflowId
from oxpull_async.store import node_counts
from oxpull_async.store.revival import retry_from
from oxpull_async.store.settle import settle
from oxpull_async.store.workflow_care import recheck_nodes, recount_nodes
from oxpull_async.store.workflows import node_ids, seal_workflow
from tests.conformance.flowing import BROKEN, COMPLETE, DONE, claimed
from tests.fixtures import workflows as made

SEEDS = range(8)


def random_graph(rng: random.Random) -> list[PlannedNode]:
    nodes: list[PlannedNode] = []
    for number in range(rng.randint(4, 14)):
        before = rng.sample(nodes, min(len(nodes), rng.choice((0, 1, 1, 2, 3))))
        nodes.append(PlannedNode(f"n{number}", {one.name: rng.choice(tuple(OnFailure)) for one in before}))
    return nodes


def expected(nodes: Sequence[PlannedNode], failing: set[str]) -> dict[str, str]:
    """Say how each node ends: one runs if all that must succeed before it did."""
    found: dict[str, str] = {}
    for node in nodes:
        may_run = all(found[name] == "SUCCESSFUL" or wish is OnFailure.RUN for name, wish in node.upstreams.items())
        found[node.name] = ("FAILED" if node.name in failing else "SUCCESSFUL") if may_run else "DISCARDED"
    return dict(sorted(found.items()))


async def add_some(conn: Connection, workflow_id: WorkflowId, nodes: list[PlannedNode], rng: random.Random) -> None:
    count = rng.randint(1, len(nodes))
    await made.add(conn, workflow_id, *nodes[:count])
    del nodes[:count]


async def settle_some(
    conn: Connection, running: list[ClaimedTask], names: Mapping[str, str], failing: set[str], rng: random.Random
) -> None:
    rng.shuffle(running)
    count = rng.randint(0, len(running))
    batch = [Settlement.of(task, BROKEN if names[task.id] in failing else DONE) for task in running[:count]]
    del running[:count]
    if batch:
        await settle(conn, batch)


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_node_of_a_random_graph_ends_as_its_edges_say(
    conn: Connection, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(node_counts, "AT_ONCE", rng.choice((1, 3, 1_000)))
    monkeypatch.setattr(node_counts, "DEEP", rng.choice((0, 1, 3)))
    nodes = random_graph(rng)
    failing = {node.name for node in nodes if rng.random() < 0.3}
    workflow = await made.opened(conn)
    left, running, is_open = [*nodes], list[ClaimedTask](), True
    while (await made.progress(conn, workflow.id)).status.value != COMPLETE:
        if left and rng.random() < 0.7:
            await add_some(conn, workflow.id, left, rng)
        if is_open and not left and rng.random() < 0.4:
            await seal_workflow(conn, workflow.id)
            is_open = False
        running += await claimed(conn, rng.randint(1, 5))
        names = {id_: name for name, id_ in (await node_ids(conn, workflow.id)).items()}
        await settle_some(conn, running, names, failing, rng)
        if rng.random() < 0.5:
            await recheck_nodes(conn, rng.randint(1, 9))
    assert await made.statuses(conn, workflow.id) == expected(nodes, failing)
    assert (await recount_nodes(conn, workflow.id, None, 100)).unforeseen == 0
    for name in sorted(failing):
        await retry_from(conn, workflow.id, name, callbacks=False)
    await run_out(conn)
    assert await made.statuses(conn, workflow.id) == expected(nodes, set())
    assert (await made.counts(conn, workflow.id))[:3] == (len(nodes), 0, len(nodes))


async def run_out(conn: Connection) -> None:
    """Let all that is left succeed."""
    while True:
        tasks = await claimed(conn)
        await settle(conn, [Settlement.of(task, DONE) for task in tasks])
        if not await recheck_nodes(conn, 100) and not tasks:
            return
