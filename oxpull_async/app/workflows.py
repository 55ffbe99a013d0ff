"""Workflows as users hold them: create, add nodes, seal, watch, cancel, retry from a node."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, cast
from uuid import UUID

import uuid_utils

from oxpull_async.app import ambient
from oxpull_async.app.batches import BatchKeywords, callbacks_of
from oxpull_async.app.changes import ANY_QUEUE
from oxpull_async.app.enqueuer import racing
from oxpull_async.app.task import Call, Task
from oxpull_async.domain.batch import checked_expiry, checked_name
from oxpull_async.domain.errors import AlreadyEnqueued, InvalidTask, WorkflowDoesNotExist
from oxpull_async.domain.keys import workflow_key
from oxpull_async.domain.settings import refuse_unknown
from oxpull_async.domain.workflow import (
    NewWorkflow,
    NodeRecord,
    OnFailure,
    WorkflowId,
    WorkflowProgress,
    WorkflowRecord,
    WorkflowStatus,
)
from oxpull_async.domain.workflow_plan import DependsOn, checked_node_name, checked_unique_text, planned_node
from oxpull_async.store import workflows as store
from oxpull_async.store.nodes import Placement
from oxpull_async.store.revival import retry_from

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull
    from oxpull_async.app.result import TaskResult


class WorkflowKeywords(BatchKeywords, total=False):
    """What a workflow may be created with."""

    unique: str | None


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is to be added: its name, its call, and what comes before it.

    `depends_on` is a name, a list of names, or a dict of names to "discard" or "run"; `on_failure` is that for names
    without their own.
    """

    name: str
    call: Call[Any]
    depends_on: DependsOn = None
    on_failure: str = OnFailure.DISCARD


class Workflow:
    """A stored workflow; what it holds is read when it is asked for."""

    __slots__ = ("_ox", "_record")

    def __init__(self, ox: "Oxpull", record: WorkflowRecord) -> None:
        self._ox = ox
        self._record = record

    def __repr__(self) -> str:
        return f"<Workflow {self.id} {self.name!r}>"

    @property
    def id(self) -> str:
        """Its id, for `ox.get_workflow`."""
        return self._record.id

    @property
    def name(self) -> str:
        """The name that it was created with."""
        return self._record.name

    async def add[R](
        self,
        name: str,
        task: Task[..., R],
        /,
        *args: Any,
        depends_on: DependsOn = None,
        on_failure: str = OnFailure.DISCARD,
        **kwargs: Any,
    ) -> "TaskResult[R]":
        """Store a call as a node, to run once all nodes that it depends on have succeeded.

        `on_failure="run"` lets it run as well when they end badly, "discard" ends it with them; `depends_on` may say so
        for each name. Tasks whose parameters have these names are added by `add_many`.

        Raises: WorkflowSealed, WorkflowNodeExists, UnknownWorkflowNode, WorkflowDoesNotExist, and what `task.enqueue`
        raises; nothing is written then.
        """
        if not isinstance(task, Task):
            raise InvalidTask(f"{task!r:.80} is no task: pass one made by @ox.task or ox.remote(…)")
        planned = planned_node(name, depends_on, on_failure)
        place = Placement(self.id, [planned])
        return await self._ox.enqueuer.enqueue(Call(task, args, kwargs), placement=place)

    async def add_many(self, nodes: Iterable[Node]) -> "list[TaskResult[Any]]":
        """Store nodes, all or none; results in their order.

        Each may depend on those before it in the list, and on stored ones.

        Raises: WorkflowSealed, WorkflowNodeExists, UnknownWorkflowNode, WorkflowDoesNotExist, and what
        `ox.enqueue_many` raises; nothing is written then.
        """
        given = list(nodes)
        for position, node in enumerate(given):
            if not isinstance(node, Node):
                raise InvalidTask(f"node {position}: {node!r:.80} is no node: pass Node(name, task.call(…), …)")
        planned = [planned_node(node.name, node.depends_on, node.on_failure) for node in given]
        place = Placement(self.id, planned)
        return await self._ox.enqueuer.enqueue_many([node.call for node in given], placement=place)

    async def seal(self) -> None:
        """Take no more nodes; it completes when all have ended.

        Bad ends count from now on: what waits behind one is discarded, or released.

        Raises: WorkflowSealed, WorkflowDoesNotExist.
        """
        await self._ox.operate(lambda conn: store.seal_workflow(conn, self.id))
        await self._ox.wake(ANY_QUEUE)

    async def progress(self) -> WorkflowProgress:
        """Read how far it is; raises WorkflowDoesNotExist."""
        self._record = await self._ox.operate(lambda conn: store.read_workflow(conn, self.id))
        return self._record.progress

    async def node_ids(self) -> dict[str, str]:
        """Return the ids of the nodes' tasks by the nodes' names, for `ox.get_result`."""
        return await self._ox.operate(lambda conn: store.node_ids(conn, self.id))

    async def nodes(self) -> list[NodeRecord]:
        """Read all nodes with their statuses and what they depend on."""
        return await self._ox.operate(lambda conn: store.list_nodes(conn, self.id))

    async def cancel(self) -> bool:
        """Cancel the nodes that have not ended, and seal it; it completes as a failure.

        Nothing is released any more. False when it is complete. Raises: WorkflowDoesNotExist.
        """
        cancelled = await self._ox.operate(lambda conn: store.cancel_workflow(conn, self.id))
        await self._ox.wake(ANY_QUEUE)
        return cancelled

    async def retry_from(self, name: str, *, callbacks: bool = False) -> int:
        """Run a node that ended badly once more, and all nodes that were discarded with it.

        A complete workflow is open to completion again; its callbacks come again only with `callbacks`. Returns how
        many nodes were revived, 0 when this one did not end badly, or another one that did keeps it from running.

        Raises: UnknownWorkflowNode, WorkflowDoesNotExist.
        """
        start = checked_node_name(name)
        revived = await self._ox.operate(lambda conn: retry_from(conn, self.id, start, callbacks=callbacks))
        await self._ox.wake(ANY_QUEUE)
        return revived


class Workflows:
    """The part of Oxpull that makes and finds workflows."""

    async def create_workflow(self, name: str, **options: Unpack[WorkflowKeywords]) -> Workflow:
        """Store an open workflow, to be sealed when it has all its nodes.

        `on_complete`, `on_success` and `on_failure` are calls to store when it completes: the first always, and one of
        the others. `expire_after` (seconds or timedelta) cancels a workflow that is still open then. `unique` is text
        under which no second workflow is made before this one is complete.

        Raises: AlreadyEnqueued whose `existing` is the workflow that has this text, UniqueEnqueueRace; UsageError or
        InvalidTask for a value out of range, InvalidArguments for a callback's arguments.
        """
        refuse_unknown("create_workflow()", options.keys(), WorkflowKeywords.__annotations__)
        ox = cast("Oxpull", self)
        new = _new_workflow(ox, name, options)
        with racing(is_unique=new.unique_key is not None, own=ambient.current(ox) is None):
            record, created = await ox.operate(lambda conn: store.create_workflow(conn, new))
        if not created:
            raise AlreadyEnqueued(
                f"workflow {record.id} ({record.name!r}) has unique={options.get('unique')!r:.60} and is not complete; "
                "nothing was written. It is this error's `existing`",
                existing=Workflow(ox, record),
            )
        return Workflow(ox, record)

    async def get_workflow(self, id_: str) -> Workflow:
        """Return the handle of a stored workflow; raises WorkflowDoesNotExist."""
        ox, workflow_id = cast("Oxpull", self), checked_workflow_id(id_)
        record = await ox.operate(lambda conn: store.read_workflow(conn, workflow_id))
        if record.backend_alias != ox.settings.alias:
            raise WorkflowDoesNotExist(f"no workflow has the id {workflow_id}")
        return Workflow(ox, record)

    @asynccontextmanager
    async def workflow(self, name: str, **options: Unpack[WorkflowKeywords]) -> AsyncIterator[Workflow]:
        """Create a workflow, add nodes in the block, and seal it at its end, all in one transaction.

        An error in the block leaves nothing behind. Takes what `create_workflow` takes.
        """
        ox = cast("Oxpull", self)
        async with ox.transaction():
            flow = await self.create_workflow(name, **options)
            yield flow
            if (await flow.progress()).status is WorkflowStatus.OPEN:
                await flow.seal()


def checked_workflow_id(id_: object) -> WorkflowId:
    """Return a workflow's id in its usual text form; raises WorkflowDoesNotExist."""
    try:
        return str(UUID(str(id_)))
    except ValueError:
        raise WorkflowDoesNotExist(f"no workflow has the id {str(id_)[:60]!r}: ids are UUIDs") from None


def _new_workflow(ox: "Oxpull", name: str, options: WorkflowKeywords) -> NewWorkflow:
    text = checked_unique_text(options.get("unique"))
    return NewWorkflow(
        str(uuid_utils.uuid7()),
        ox.settings.alias,
        checked_name(name),
        callbacks_of(ox.enqueuer, options, None),
        checked_expiry(options.get("expire_after")),
        None if text is None else workflow_key(ox.settings.alias, text),
    )
