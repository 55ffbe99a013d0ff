"""Which tasks an action is about, and what it does to them."""

from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.tasks import DEFAULT_TASK_BACKEND_ALIAS

from compat_sync.exceptions import UsageError
from oxpull_async.app.changes import Changes
from oxpull_async.app.operations import checked_id
from oxpull_async.domain.errors import TaskResultDoesNotExist

__all__ = ["CANCEL", "DEFAULT", "DISCARD", "RUN_NOW", "Chosen", "Counts", "Selection", "Verb", "choose", "retrying"]

type Counts = tuple[int, int]
type Verb = Callable[[Changes, Collection[str]], Awaitable[Counts]]
type Selection = Iterable[Any]

DEFAULT = DEFAULT_TASK_BACKEND_ALIAS
DISCARD: Verb = Changes.discard_many
CANCEL: Verb = Changes.cancel_many
RUN_NOW: Verb = Changes.run_now_many
_TASKS = "compat_sync.OxpullTask"


def retrying(*, include_discarded: bool) -> Verb:
    """Return the retry of failed and lost tasks, or of these and discarded ones."""
    return partial(Changes.retry_many, include_discarded=include_discarded)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ids of a selection, each once, and how many entries were no ids: no task has them."""

    ids: frozenset[str]
    malformed: int


def choose(selection: Selection) -> Chosen:
    """Read a selection: ids, results or stored tasks, or a queryset of these.

    Raises: UsageError for one id, for what holds none, and for a queryset of something else.
    """
    if isinstance(selection, str | bytes | UUID):
        shown = str(selection)[:60]
        raise UsageError(f"{shown!r} is one id where several are wanted: pass [{shown!r}]")
    if not isinstance(selection, Iterable):
        raise UsageError(f"{selection!r:.80} holds no tasks: pass a list of ids or results, or a queryset of {_TASKS}")
    if isinstance(selection, QuerySet):
        if selection.model._meta.label != _TASKS:  # noqa: SLF001 - Django's documented name
            raise UsageError(f"a queryset of {selection.model._meta.label} holds no tasks: pass one of {_TASKS}")  # noqa: SLF001
        selection = selection.values_list("pk", flat=True)
    ids, malformed = set[str](), set[str]()
    for entry in selection:
        given = str(getattr(entry, "id", entry))
        try:
            ids.add(checked_id(given))
        except TaskResultDoesNotExist:
            malformed.add(given)
    return Chosen(frozenset(ids), len(malformed))
