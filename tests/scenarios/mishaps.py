"""Random graphs whose nodes fail, get lost, are discarded or deleted by hand, while connections break in the settle."""

import random
from dataclasses import dataclass, field
from functools import partial

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import ConnectionLost
from oxpull_async.domain.outcome import Settlement
from oxpull_async.domain.record import ClaimedTask, TaskId, TaskStatus, WorkerId
from oxpull_async.domain.workflow import OnFailure, PlannedNode, WorkflowId
from oxpull_async.store.lease import expired, reap
from oxpull_async.store.operate import discard
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import settle
from oxpull_async.store.workflow_care import look_after_workflow, open_workflows, recheck_nodes
from oxpull_async.store.workflows import node_ids, seal_workflow
from tests.conformance.flowing import BROKEN, COMPLETE, DONE
from tests.fixtures import make, raw
from tests.fixtures import workflows as made
from tests.fixtures.faulty import Fault, FaultyConnection
from tests.scenarios.proof import Proof, proof

MOST_NODES, MOST_ROUNDS = 50, 1_000
BREAKS_AT = (
    "settle",
    "settle_successes",
    "settle_locked",
    "lock_nodes",
    "write_nodes",
    "set_edges",
    "write_workflow_counts",
    "release_nodes",
)


@dataclass(slots=True)
class Story:
    """What happened to the nodes of one workflow, by their names."""

    workflow_id: WorkflowId
    nodes: dict[str, PlannedNode]
    rng: random.Random
    ids: dict[str, TaskId] = field(default_factory=dict)
    names: dict[TaskId, str] = field(default_factory=dict)
    running: list[tuple[WorkerId, ClaimedTask]] = field(default_factory=list)
    started: set[str] = field(default_factory=set)
    succeeded: set[str] = field(default_factory=set)
    by_hand: set[str] = field(default_factory=set)

    def may_run(self, name: str) -> bool:
        """Say whether every edge that asks for a success has one."""
        wishes = self.nodes[name].upstreams.items()
        return all(wish is OnFailure.RUN or upstream in self.succeeded for upstream, wish in wishes)


def random_graph(rng: random.Random) -> list[PlannedNode]:
    nodes: list[PlannedNode] = []
    for number in range(rng.randint(5, MOST_NODES)):
        before = rng.sample(nodes, min(len(nodes), rng.choice((0, 1, 1, 2, 4))))
        nodes.append(PlannedNode(f"n{number}", {one.name: rng.choice(tuple(OnFailure)) for one in before}))
    return nodes


@dataclass(frozen=True, slots=True)
class Mishaps:
    """How many workflows were played, and what became of their nodes."""

    workflows: int
    nodes: int
    started: int
    succeeded: int
    by_hand: int


async def mishaps(url: str, *, count: int) -> Mishaps:
    """Play so many workflows on one connection; raises AssertionError where one does not end as its edges say."""
    async with Oxpull(url) as ox:
        await ox.migrate()
        async with ox.database.connection() as conn:
            stories = [await play(conn, seed) for seed in range(count)]
    return Mishaps(
        workflows=count,
        nodes=sum(len(story.nodes) for story in stories),
        started=sum(len(story.started) for story in stories),
        succeeded=sum(len(story.succeeded) for story in stories),
        by_hand=sum(len(story.by_hand) for story in stories),
    )


async def play(conn: Connection, seed: int) -> Story:
    """Build a random graph, and hold it against what its edges say when all has happened to it."""
    rng = random.Random(seed)
    nodes = random_graph(rng)
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, *nodes)
    story = Story(workflow.id, {node.name: node for node in nodes}, rng)
    story.ids = await node_ids(conn, workflow.id)
    story.names = {id_: name for name, id_ in story.ids.items()}
    seals_in = rng.randint(0, 10)
    for turn in range(MOST_ROUNDS):
        if turn == seals_in:
            await seal_workflow(conn, workflow.id)
        await one_round(conn, story)
        if (await made.progress(conn, workflow.id)).status.value == COMPLETE:
            break
    await check(conn, story)
    was_good = len(story.succeeded) == len(nodes)
    assert await made.fired(conn, workflow) == ["complete", "success" if was_good else "failure"]
    return story


async def one_round(conn: Connection, story: Story) -> None:
    rng = story.rng
    for _ in range(rng.randint(0, 3)):
        await start_one(conn, story)
    while story.running and rng.random() < 0.7:
        await end_one(conn, story, story.running.pop(rng.randrange(len(story.running))))
    if rng.random() < 0.1:
        await meddle(conn, story)
    if rng.random() < 0.5:
        await recheck_nodes(conn, rng.randint(1, 9))
    if rng.random() < 0.3:
        for found in await open_workflows(conn, None, 10):
            await look_after_workflow(conn, found, None, 1_000)


async def start_one(conn: Connection, story: Story) -> None:
    """Claim one node, whose upstreams have all ended as its edges ask."""
    worker = await make.worker(conn)
    for task in await make.claimed(conn, worker, 1):
        name = story.names[task.id]
        upstreams = [story.ids[one] for one in story.nodes[name].upstreams]
        found = await get_tasks(conn, upstreams)
        assert all(record.status.is_finished for record in found.values()), f"{name} started too early"
        assert story.may_run(name), f"{name} started although an edge forbids it"
        story.started.add(name)
        story.running.append((worker, task))


async def end_one(conn: Connection, story: Story, ending: tuple[WorkerId, ClaimedTask]) -> None:
    """Let an attempt succeed, fail, or get lost; where the connection breaks, repeat as a worker does."""
    worker, task = ending
    luck = story.rng.random()
    if luck < 0.1:
        await raw.forget_worker(conn, worker)
        for row in await expired(conn, 100):
            await reap(conn, row, make.ERROR)
        return
    one = Settlement.of(task, DONE if luck > 0.25 else BROKEN)
    fault = Fault(story.rng.choice(BREAKS_AT), committed=story.rng.random() < 0.5)
    if story.rng.random() < 0.3:
        try:
            await settle(FaultyConnection(conn, fault), [one])
        except ConnectionLost:
            await settle(conn, [one])
    else:
        await settle(conn, [one])
    record = (await get_tasks(conn, [task.id])).get(task.id)
    if record is not None and record.status is TaskStatus.SUCCESSFUL:
        story.succeeded.add(story.names[task.id])


async def meddle(conn: Connection, story: Story) -> None:
    """Discard a node that has not started, or delete its row."""
    left = sorted(story.nodes.keys() - story.started - story.by_hand)
    if not left:
        return
    name = story.rng.choice(left)
    story.by_hand.add(name)
    if story.rng.random() < 0.5:
        await discard(conn, [story.ids[name]])
    else:
        await raw.delete(conn, story.ids[name])


async def check(conn: Connection, story: Story) -> None:
    """Fail unless all that could run did, all else ended DISCARDED, and the counts are what the rows say."""
    found = await made.statuses(conn, story.workflow_id)
    for name in story.nodes.keys() - story.started - story.by_hand:
        assert found[name] == "DISCARDED", f"{name} is {found[name]}"
        assert not story.may_run(name), f"{name} could have run"
    progress = await made.progress(conn, story.workflow_id)
    failed = sum(status == "FAILED" for status in found.values())
    total, succeeded = len(story.nodes), len(story.succeeded)
    assert (progress.total, progress.pending, progress.blocked) == (total, 0, 0), progress
    assert (progress.succeeded, progress.failed) == (succeeded, failed), progress
    assert progress.unattributed == total - succeeded - failed, progress


PROOFS: list[Proof] = [
    proof(
        "1,000 random workflows whose nodes fail, get lost, are discarded or deleted, while connections break",
        "D3, D2, A7",
        partial(mishaps, count=1_000),
    )
]
