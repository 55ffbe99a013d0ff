"""Workflows: tasks with edges between them, each edge saying what must come first."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from oxpull_async.domain.batch import BatchStatus, Callback
from oxpull_async.domain.record import TaskId, TaskStatus, instant, instant_or_none, task_id, wire_id

type WorkflowId = str

WorkflowStatus = BatchStatus


class OnFailure(StrEnum):
    """What becomes of a node whose upstream ended badly; the stored words are these."""

    DISCARD = "discard"
    RUN = "run"


class EdgeState(StrEnum):
    """What an edge has come to; open ones have none."""

    MET = "met"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WorkflowProgress:
    """How far a workflow is.

    `total` nodes, of which `pending` have not ended, `blocked` of these wait for others; `unattributed` are LOST,
    DISCARDED or deleted by hand.
    """

    total: int
    pending: int
    blocked: int
    succeeded: int
    failed: int
    unattributed: int
    status: WorkflowStatus

    @property
    def finished(self) -> int:
        """How many nodes have ended."""
        return self.total - self.pending


@dataclass(frozen=True, slots=True)
class NewWorkflow:
    """A workflow that is about to be stored.

    It is cancelled if it is still open `expire_after` seconds from then. `unique_key` is held until it is complete.
    """

    id: WorkflowId
    backend_alias: str
    name: str
    callbacks: Sequence[Callback]
    expire_after: float | None = None
    unique_key: str | None = None


@dataclass(frozen=True, slots=True)
class WorkflowRecord:
    """One stored workflow; `callbacks` are as stored, the tasks' ids among them."""

    id: WorkflowId
    backend_alias: str
    name: str
    progress: WorkflowProgress
    callbacks: Sequence[Mapping[str, Any]]
    created_at: datetime
    sealed_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """The place of a task that is about to be stored.

    `upstreams` are its edges, by the names of the nodes they come from.
    """

    name: str
    upstreams: Mapping[str, OnFailure]


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One stored node, and its task's status: None where the row is gone."""

    name: str
    task_id: TaskId
    task_path: str | None
    status: TaskStatus | None
    upstreams: Mapping[str, OnFailure]


@dataclass(frozen=True, slots=True)
class Upstream:
    """How a direct upstream of a node ended, and what it returned.

    None unless it was SUCCESSFUL.
    """

    status: TaskStatus
    value: Any
    task_path: str = field(default="", repr=False, compare=False)


def workflow_record(row: Sequence[Any], callbacks: Sequence[Mapping[str, Any]]) -> WorkflowRecord:
    """Read one row of the statement `get_workflows`, whose callbacks have been decoded."""
    total, succeeded, failed, unattributed, blocked = row[4:9]
    pending = total - succeeded - failed - unattributed
    progress = WorkflowProgress(total, pending, blocked, succeeded, failed, unattributed, WorkflowStatus(row[3]))
    return WorkflowRecord(
        task_id(row[0]), row[1], row[2], progress, callbacks,
        instant(row[10]), instant_or_none(row[11]), instant_or_none(row[12]),
    )  # fmt: skip


def reopened_callbacks(
    callbacks: Sequence[Mapping[str, Any]], *, were_due: bool, again: bool
) -> list[Mapping[str, Any]]:
    """Return the callbacks of a workflow that is run once more, as they are to be stored.

    Those that were due have had their time, unless they are to come `again`: then they are other tasks, under ids that
    follow from the old ones.
    """
    return [_reopened(callback, were_due=were_due, again=again) for callback in callbacks]


def _reopened(callback: Mapping[str, Any], *, were_due: bool, again: bool) -> Mapping[str, Any]:
    is_over = were_due or bool(callback.get("spent"))
    if not is_over or not again:
        return {**callback, "spent": True} if is_over else callback
    fresh = {**callback["task"], "id": _next_id(callback["task"]["id"])}
    return {"when": callback["when"], "task": fresh}


def _next_id(wired: str) -> str:
    """Return another id with the same time in it."""
    wired = wire_id(wired)
    return wired[:20] + hashlib.sha256(wired.encode("ascii")).hexdigest()[:12]
