"""Adding nodes to a workflow, one or many, from sync and async code."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.tasks import Task

from compat_sync.backend import OxpullBackend
from compat_sync.batches.places import home
from compat_sync.django_types import AnyTask
from compat_sync.enqueuing import Enqueuing, Request
from compat_sync.exceptions import translated
from compat_sync.placement import check_placement
from compat_sync.results import TaskResult
from compat_sync.tasks import core_task
from compat_sync.threads import on_django
from oxpull_async.app.task import Call
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.workflow import OnFailure, PlannedNode, WorkflowRecord
from oxpull_async.domain.workflow_plan import DependsOn, checked_node_name, planned_node
from oxpull_async.store.nodes import Placement

__all__ = ["Node", "NodeAdding", "named"]


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is to be added: its name, its call, and what comes before it.

    `depends_on` is a name, a list of names, or a dict of names to "discard" or "run"; `on_failure` is that for names
    without their own.
    """

    name: str
    task: AnyTask
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    depends_on: DependsOn = None
    on_failure: str = OnFailure.DISCARD


class NodeAdding:
    """The part of a workflow's handle that takes nodes."""

    def __init__(self, record: WorkflowRecord) -> None:
        self._record = record

    def add(
        self,
        node_name: str,
        task: AnyTask,
        *args: Any,
        depends_on: DependsOn = None,
        on_failure: str = OnFailure.DISCARD,
        **kwargs: Any,
    ) -> TaskResult:
        """Store a call as a node, to run once all nodes that it depends on have succeeded.

        `on_failure="run"` lets it run as well when they end badly, "discard" ends it with them; `depends_on` may say so
        for each name. Tasks whose parameters have these names are added by `add_many`.

        Raises: WorkflowSealed, WorkflowNodeExists, UnknownWorkflowNode, WorkflowDoesNotExist, ValueError for the name,
        ImproperlyConfigured for `depends_on` or a task of another backend, what an enqueue raises; nothing is written.
        """
        request, enqueuing = self._one(Node(node_name, task, args, kwargs, depends_on, on_failure))
        with translated():
            return enqueuing.on_django(request)[0]

    async def aadd(
        self,
        node_name: str,
        task: AnyTask,
        *args: Any,
        depends_on: DependsOn = None,
        on_failure: str = OnFailure.DISCARD,
        **kwargs: Any,
    ) -> TaskResult:
        """Store a call as a node, as `add` does."""
        if not home().goes_native:
            add = partial(self.add, node_name, task, *args, depends_on=depends_on, on_failure=on_failure, **kwargs)
            return await on_django(add)
        request, enqueuing = self._one(Node(node_name, task, args, kwargs, depends_on, on_failure))
        with translated():
            return (await enqueuing.natively(request))[0]

    def add_many(self, nodes: Iterable[Node]) -> list[TaskResult]:
        """Store nodes, all or none; returns the results in their order.

        Each may depend on those before it and on stored ones. Raises: what `add` raises; nothing is written then.
        """
        given = list(nodes)
        if not given:
            return []
        request, enqueuing = self._many(given)
        with translated():
            return enqueuing.on_django(request)

    async def aadd_many(self, nodes: Iterable[Node]) -> list[TaskResult]:
        """Store nodes, as `add_many` does."""
        given = list(nodes)
        if not given:
            return []
        if not home().goes_native:
            return await on_django(self.add_many, given)
        request, enqueuing = self._many(given)
        with translated():
            return await enqueuing.natively(request)

    def _one(self, node: Node) -> tuple[Request, Enqueuing]:
        """Check a node; returns what is to be stored, and by what."""
        backend, call, planned = _checked(node)
        with translated():
            placement = Placement(self._record.id, [planned])
            return Request.of_one(backend.ox, call, placement=placement), backend.enqueuing

    def _many(self, nodes: Sequence[Node]) -> tuple[Request, Enqueuing]:
        """Check nodes; returns what is to be stored, and by what."""
        for position, node in enumerate(nodes):
            if not isinstance(node, Node):
                raise ImproperlyConfigured(f"node {position}: {node!r:.80} is no node: pass Node(name, task, args, …)")
        checked = [_checked(node) for node in nodes]
        with translated():
            placement = Placement(self._record.id, [planned for _, _, planned in checked])
            return Request.of_nodes([call for _, call, _ in checked], placement), checked[0][0].enqueuing


def named(name: object) -> str:
    """Return a node's name; raises ValueError for what is none."""
    try:
        return checked_node_name(name)
    except UsageError as wrong:
        raise ValueError(str(wrong)) from None


def _checked(node: Node) -> tuple[OxpullBackend, Call[Any], PlannedNode]:
    """Return a node's backend, its call and its place."""
    check_placement()
    named(node.name)
    try:
        planned = planned_node(node.name, node.depends_on, node.on_failure)
    except UsageError as wrong:
        raise ImproperlyConfigured(str(wrong)) from None
    if not isinstance(node.task, Task):
        raise ImproperlyConfigured(f"node {node.name!r}: {node.task!r:.80} is no task")
    backend = node.task.get_backend()
    if not isinstance(backend, OxpullBackend):
        raise ImproperlyConfigured(
            f"node {node.name!r}: {node.task.module_path} is on TASKS[{node.task.backend!r}], which is not ours"
        )
    with translated():
        return (
            backend,
            Call(core_task(backend.ox, node.task, backend.setup), tuple(node.args), dict(node.kwargs)),
            planned,
        )
