"""The actions of sync code: on Django's connection, in the caller's transaction."""

from typing import Any

from compat_sync.actions.selection import CANCEL, DEFAULT, DISCARD, RUN_NOW, Counts, Selection, Verb, choose, retrying
from compat_sync.exceptions import translated
from compat_sync.operations import operations_of
from compat_sync.shim import run_blocking
from oxpull_async.domain.task import checked_queue


def retry(task_id: Any, *, include_discarded: bool = False, backend: str = DEFAULT) -> bool:
    """Make a FAILED or LOST task (DISCARDED on request) ready once more; False for any other."""
    return retry_many([task_id], include_discarded=include_discarded, backend=backend)[0] > 0


def discard(task_id: Any, *, backend: str = DEFAULT) -> bool:
    """End a READY, WAITING, FAILED or LOST task; False for any other."""
    return discard_many([task_id], backend=backend)[0] > 0


def cancel(task_id: Any, *, backend: str = DEFAULT) -> bool:
    """End a READY or WAITING task, or ask a RUNNING one to stop, once; False for any other.

    A success that comes first stands; any other end becomes DISCARDED.
    """
    return cancel_many([task_id], backend=backend)[0] > 0


def run_now(task_id: Any, *, backend: str = DEFAULT) -> bool:
    """Let a READY task that is due later be claimed at once; False for any other.

    Its `run_after` stays what the enqueue asked.
    """
    return run_now_many([task_id], backend=backend)[0] > 0


def retry_many(selection: Selection, *, include_discarded: bool = False, backend: str = DEFAULT) -> Counts:
    """Retry tasks; returns how many changed and how many were skipped."""
    return change(selection, retrying(include_discarded=include_discarded), backend)


def discard_many(selection: Selection, *, backend: str = DEFAULT) -> Counts:
    """Discard tasks; returns how many changed and how many were skipped."""
    return change(selection, DISCARD, backend)


def cancel_many(selection: Selection, *, backend: str = DEFAULT) -> Counts:
    """Cancel tasks; returns how many changed and how many were skipped."""
    return change(selection, CANCEL, backend)


def run_now_many(selection: Selection, *, backend: str = DEFAULT) -> Counts:
    """Let tasks be claimed at once; returns how many changed and how many were skipped."""
    return change(selection, RUN_NOW, backend)


def pause(queue_name: str, *, backend: str = DEFAULT) -> bool:
    """Stop the claims from a queue; False when it was paused, InvalidTask where QUEUES lacks it."""
    with translated():
        operations = operations_of(backend)
        return run_blocking(operations.pause(checked_queue(queue_name, operations.settings.queues)))


def resume(queue_name: str, *, backend: str = DEFAULT) -> bool:
    """Let workers claim from a queue again, of whatever name; False when it was not paused."""
    with translated():
        return run_blocking(operations_of(backend).resume(queue_name))


def change(selection: Selection, verb: Verb, backend: str) -> Counts:
    """Carry out a verb, each thousand tasks in a transaction of their own unless one is open."""
    with translated():
        operations = operations_of(backend)
        chosen = choose(selection)
        changed, skipped = run_blocking(_carry_out(operations, chosen.ids, verb))
        return changed, skipped + chosen.malformed


async def _carry_out(operations: Any, ids: frozenset[str], verb: Verb) -> Counts:
    return await verb(operations, ids)
