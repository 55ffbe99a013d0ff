"""The actions of the task list, which account for every selected task.

They go through `compat_sync.actions`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest

from compat_sync import actions
from compat_sync.admin.base import MOST
from compat_sync.admin.filters import is_cut
from compat_sync.admin.history import log_changes
from compat_sync.exceptions import OxpullError
from compat_sync.models import OxpullTask
from compat_sync.operations import our_aliases
from compat_sync.placement import database_alias
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.transitions import Move, allowed

__all__ = ["BULK_ACTIONS"]

_COLUMNS = ("pk", "task_path", "status", "backend_alias", "cancel_requested", "available_at")


@dataclass(frozen=True, slots=True)
class _Verb:
    """One action: what it is called when done, the move that it makes, and how what it did not do is explained."""

    done: str
    move: Move
    act: Callable[..., tuple[int, int]]
    otherwise: str = "changed meanwhile"

    def refuses(self, task: OxpullTask) -> str | None:
        """Say why a task as it was seen cannot change, None where it can."""
        status = TaskStatus(task.status)
        if allowed(status, self.move) is None:
            return str(status)
        if self.move is Move.CANCEL and status is TaskStatus.RUNNING and task.cancel_requested:
            return "asked to stop already"
        return None


def _carry_out(request: HttpRequest, queryset: Any, verb: _Verb) -> None:
    """Change the selected tasks, and say of each whether it changed, and if not, why."""
    seen: list[OxpullTask] = list(queryset.only(*_COLUMNS)[: MOST + 1])
    is_cut_short = request.POST.get("select_across") == "1" and is_cut(request, queryset)
    reasons, changed = Counter[str](), 0
    try:
        with _apart_in_a_transaction():
            for alias, selected in _by_alias(seen[:MOST]).items():
                changed += _change(request, alias, selected, verb, reasons)
    except OxpullError as trouble:
        messages.error(request, f"{trouble}. Whatever did not change is as it was: repeat the action")
        return
    _tell(request, verb, changed, reasons)
    if is_cut_short:
        messages.warning(request, "There may be more tasks of this status than were selected: look, and repeat it")
    if len(seen) > MOST:
        messages.warning(request, f"Only the first {MOST:,} selected tasks were looked at: repeat it for the others")


def _change(request: HttpRequest, alias: str, seen: list[OxpullTask], verb: _Verb, reasons: Counter[str]) -> int:
    """Change tasks of one alias, note why those that did not change did not, and log those that did."""
    if alias not in our_aliases():
        reasons[f"of the alias {alias!r}, which is not in TASKS here"] += len(seen)
        return 0
    changed, skipped = verb.act([task.pk for task in seen], backend=alias)
    known = Counter(reason for task in seen if (reason := verb.refuses(task)) is not None)
    reasons.update(known)
    able = [task for task in seen if verb.refuses(task) is None]
    if skipped > known.total():
        reasons[verb.otherwise] += skipped - known.total()
        able = _differing(able)
    log_changes(request, able, verb.done.capitalize())
    return changed


def _differing(seen: list[OxpullTask]) -> list[OxpullTask]:
    """Return those that are stored otherwise than they were seen."""
    now = OxpullTask.objects.only(*_COLUMNS).in_bulk([task.pk for task in seen])
    return [task for task in seen if task.pk in now and _changeable(now[task.pk]) != _changeable(task)]


def _changeable(task: OxpullTask) -> tuple[object, ...]:
    """Return what an action may change."""
    return task.status, task.cancel_requested, task.available_at


def _tell(request: HttpRequest, verb: _Verb, changed: int, reasons: Counter[str]) -> None:
    skipped = reasons.total()
    told = f"{changed + skipped:,} selected: {changed:,} {verb.done}, {skipped:,} left as they were"
    if skipped:
        told += f" ({', '.join(f'{count:,} {reason}' for reason, count in sorted(reasons.items()))})"
    (messages.warning if skipped else messages.success)(request, told)


def _by_alias(seen: list[OxpullTask]) -> dict[str, list[OxpullTask]]:
    found: defaultdict[str, list[OxpullTask]] = defaultdict(list)
    for task in seen:
        found[task.backend_alias].append(task)
    return dict(found)


def _apart_in_a_transaction() -> AbstractContextManager[Any]:
    """Keep an error from breaking the transaction of the request, where there is one."""
    database = database_alias()
    in_one = transaction.get_connection(database).in_atomic_block
    return transaction.atomic(using=database) if in_one else nullcontext()


def _retry_discarded(ids: list[Any], *, backend: str) -> tuple[int, int]:
    return actions.retry_many(ids, include_discarded=True, backend=backend)


_DUE = "due already, or changed meanwhile"
_VERBS = {
    "retry_selected": ("Retry (failed and lost)", _Verb("ready again", Move.RETRY, actions.retry_many)),
    "retry_selected_discarded_too": (
        "Retry (failed, lost and discarded)",
        _Verb("ready again", Move.RETRY_DISCARDED, _retry_discarded),
    ),
    "run_selected_now": (
        "Run now (ready, but due later)",
        _Verb("to be run now", Move.RUN_NOW, actions.run_now_many, _DUE),
    ),
    "cancel_selected": (
        "Cancel (ready, waiting and running)",
        _Verb("cancelled or asked to stop", Move.CANCEL, actions.cancel_many),
    ),
    "discard_selected": (
        "Discard (ready, waiting, failed and lost)",
        _Verb("discarded", Move.DISCARD, actions.discard_many),
    ),
}


def _action(name: str, title: str, verb: _Verb) -> Callable[[Any, HttpRequest, Any], None]:
    @admin.action(description=title, permissions=("operate",))
    def act(_admin: Any, request: HttpRequest, queryset: Any) -> None:
        _carry_out(request, queryset, verb)

    act.__name__ = name
    return act


BULK_ACTIONS = tuple(_action(name, title, verb) for name, (title, verb) in _VERBS.items())
