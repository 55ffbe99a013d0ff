"""The life of a task as a table: which move leads from which status to which.

Docs and tests read this table; `store/` carries the moves out with statements that are fenced by status and epoch.
"""

from dataclasses import dataclass
from enum import StrEnum

from oxpull_async.domain.record import TaskStatus

READY, WAITING, RUNNING = TaskStatus.READY, TaskStatus.WAITING, TaskStatus.RUNNING
SUCCESSFUL, FAILED, LOST, DISCARDED = TaskStatus.SUCCESSFUL, TaskStatus.FAILED, TaskStatus.LOST, TaskStatus.DISCARDED


class Move(StrEnum):
    """Everything that may happen to a stored task."""

    CLAIM = "claim"
    PARK = "claim: running lock taken"
    REFUSE = "claim: running lock taken, on_conflict discard"
    HAND_OVER = "hand-over of its running lock"
    FOLLOW = "end of its unique key's holder"
    REWRITE = "enqueue: new arguments"
    SUCCEED = "settle: success"
    FAIL = "settle: failure, final"
    RETRY_LATER = "settle: failure, attempts left"
    SNOOZE = "settle: snooze"
    ACKNOWLEDGE_CANCEL = "settle: cancel acknowledged"
    RELEASE = "release"
    REAP = "reap: attempts left"
    REAP_LAST = "reap: attempts spent"
    RETRY = "retry"
    RETRY_DISCARDED = "retry, discarded included"
    DISCARD = "discard"
    CANCEL = "cancel"
    RUN_NOW = "run now"
    UNBLOCK = "unblock: the last edge is met"
    CASCADE = "cascade: an upstream ended badly"
    RETRY_NODE = "retry, a node with open edges"


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table: what the move leads to and what else it changes."""

    origin: TaskStatus
    move: Move
    target: TaskStatus
    effect: str


TABLE: tuple[Transition, ...] = (
    Transition(
        READY, Move.CLAIM, RUNNING, "attempts + 1, epoch + 1; only when due, and for a worker whose lease is good"
    ),
    Transition(READY, Move.PARK, WAITING, "waits for the lock; attempts, epoch and place in the order kept"),
    Transition(READY, Move.REFUSE, DISCARDED, "first attempts only; the error says who holds the lock"),
    Transition(WAITING, Move.HAND_OVER, READY, "if it waits for the lock; the slot is taken at the claim"),
    Transition(WAITING, Move.FOLLOW, READY, "if it is the key's follow-up, which becomes the holder"),
    Transition(WAITING, Move.UNBLOCK, READY, "if it waits for edges; due now, or at a later run_after"),
    Transition(WAITING, Move.CASCADE, DISCARDED, "if it waits for edges; the error names the upstream"),
    Transition(READY, Move.REWRITE, READY, "if it has not started"),
    Transition(
        WAITING, Move.REWRITE, READY, "if it has not started and waits for its lock; a follow-up goes on waiting"
    ),
    Transition(RUNNING, Move.SUCCEED, SUCCESSFUL, "the return value is stored"),
    Transition(RUNNING, Move.FAIL, FAILED, "the error is appended"),
    Transition(RUNNING, Move.RETRY_LATER, READY, "the error is appended; due after the delay"),
    Transition(RUNNING, Move.SNOOZE, READY, "attempt refunded, epoch + 1; due after the delay"),
    Transition(RUNNING, Move.ACKNOWLEDGE_CANCEL, DISCARDED, "the error says who cancelled"),
    Transition(RUNNING, Move.RELEASE, READY, "attempt refunded, epoch + 1; place in the order kept"),
    Transition(RUNNING, Move.REAP, READY, "epoch + 1; attempt refunded if it never began, twice at most"),
    Transition(RUNNING, Move.REAP_LAST, LOST, "epoch kept, so that a late outcome still counts"),
    Transition(LOST, Move.SUCCEED, SUCCESSFUL, "late outcome of the same epoch; the note of the loss goes"),
    Transition(LOST, Move.FAIL, FAILED, "late outcome of the same epoch; the note of the loss goes"),
    Transition(READY, Move.DISCARD, DISCARDED, ""),
    Transition(WAITING, Move.DISCARD, DISCARDED, ""),
    Transition(FAILED, Move.DISCARD, DISCARDED, ""),
    Transition(LOST, Move.DISCARD, DISCARDED, ""),
    Transition(READY, Move.CANCEL, DISCARDED, ""),
    Transition(WAITING, Move.CANCEL, DISCARDED, ""),
    Transition(RUNNING, Move.CANCEL, RUNNING, "a request is stored; any end but success becomes DISCARDED"),
    Transition(READY, Move.RUN_NOW, READY, "due at once, if it was due later; run_after kept"),
    Transition(FAILED, Move.RETRY, READY, "epoch + 1, one more attempt allowed"),
    Transition(LOST, Move.RETRY, READY, "epoch + 1, one more attempt allowed"),
    Transition(FAILED, Move.RETRY_DISCARDED, READY, "epoch + 1, one more attempt allowed"),
    Transition(LOST, Move.RETRY_DISCARDED, READY, "epoch + 1, one more attempt allowed"),
    Transition(DISCARDED, Move.RETRY_DISCARDED, READY, "epoch + 1, one more attempt allowed"),
    Transition(FAILED, Move.RETRY_NODE, WAITING, "epoch + 1, one more attempt allowed; waits for its edges"),
    Transition(LOST, Move.RETRY_NODE, WAITING, "epoch + 1, one more attempt allowed; waits for its edges"),
    Transition(DISCARDED, Move.RETRY_NODE, WAITING, "epoch + 1, one more attempt allowed; waits for its edges"),
)

_TARGETS = {(row.origin, row.move): row.target for row in TABLE}


def allowed(origin: TaskStatus, move: Move) -> TaskStatus | None:
    """Return the status a move leads to, or None where it is not allowed and changes nothing."""
    return _TARGETS.get((origin, move))
