"""The actions of async code: by the native driver, or below a sync caller on its connection."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.db.models import QuerySet

from compat_sync import native
from compat_sync.actions import blocking
from compat_sync.actions.selection import CANCEL, DEFAULT, DISCARD, RUN_NOW, Counts, Selection, Verb, choose, retrying
from compat_sync.caller import has_sync_caller
from compat_sync.exceptions import translated
from compat_sync.operations import backend_of
from compat_sync.threads import on_django
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.domain.task import checked_queue


async def aretry(task_id: Any, *, include_discarded: bool = False, backend: str = DEFAULT) -> bool:
    """Make a FAILED or LOST task ready once more, as `retry` does."""
    return (await aretry_many([task_id], include_discarded=include_discarded, backend=backend))[0] > 0


async def adiscard(task_id: Any, *, backend: str = DEFAULT) -> bool:
    """End a READY, WAITING, FAILED or LOST task, as `discard` does."""
    return (await adiscard_many([task_id], backend=backend))[0] > 0


async def acancel(task_id: Any, *, backend: str = DEFAULT) -> bool:
    """End a task that does not run yet, or ask a RUNNING one to stop, as `cancel` does."""
    return (await acancel_many([task_id], backend=backend))[0] > 0


async def arun_now(task_id: Any, *, backend: str = DEFAULT) -> bool:
    """Let a READY task that is due later be claimed at once, as `run_now` does."""
    return (await arun_now_many([task_id], backend=backend))[0] > 0


async def aretry_many(selection: Selection, *, include_discarded: bool = False, backend: str = DEFAULT) -> Counts:
    """Retry tasks; returns how many changed and how many were skipped."""
    return await _change(selection, retrying(include_discarded=include_discarded), backend)


async def adiscard_many(selection: Selection, *, backend: str = DEFAULT) -> Counts:
    """Discard tasks; returns how many changed and how many were skipped."""
    return await _change(selection, DISCARD, backend)


async def acancel_many(selection: Selection, *, backend: str = DEFAULT) -> Counts:
    """Cancel tasks; returns how many changed and how many were skipped."""
    return await _change(selection, CANCEL, backend)


async def arun_now_many(selection: Selection, *, backend: str = DEFAULT) -> Counts:
    """Let tasks be claimed at once; returns how many changed and how many were skipped."""
    return await _change(selection, RUN_NOW, backend)


async def apause(queue_name: str, *, backend: str = DEFAULT) -> bool:
    """Stop the claims from a queue, as `pause` does; False when it was paused."""

    async def natively(ox: Oxpull) -> bool:
        return await ox.pause(checked_queue(queue_name, ox.settings.queues))

    return await _either(backend, lambda: blocking.pause(queue_name, backend=backend), natively)


async def aresume(queue_name: str, *, backend: str = DEFAULT) -> bool:
    """Let workers claim from a queue again as `resume` does; False when it was not paused."""
    return await _either(
        backend, lambda: blocking.resume(queue_name, backend=backend), lambda ox: ox.resume(queue_name)
    )


async def _change(selection: Selection, verb: Verb, backend: str) -> Counts:
    async def natively(ox: Oxpull) -> Counts:
        chosen = await on_django(choose, selection) if isinstance(selection, QuerySet) else choose(selection)
        changed, skipped = await verb(ox, chosen.ids)
        return changed, skipped + chosen.malformed

    return await _either(backend, lambda: blocking.change(selection, verb, backend), natively)


async def _either[T](backend: str, blockingly: Callable[[], T], natively: Callable[[Oxpull], Awaitable[T]]) -> T:
    """Go where `aenqueue` of this backend would go."""
    found = backend_of(backend)
    if has_sync_caller() or not native.may_go_native(found.database):
        return await on_django(blockingly)
    with translated():
        return await natively(found.ox)
