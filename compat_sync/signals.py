"""Django's task signals, sent only where somebody listens."""

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Self

from django.conf import settings
from django.dispatch import Signal
from django.tasks import TaskResultStatus, signals
from django.utils.log import RequireDebugTrue

from compat_sync.django_types import AnyResult
from compat_sync.results import TaskResult, result_of
from oxpull_async.domain.outcome import Failed, Outcome, Succeeded
from oxpull_async.domain.record import TaskRecord, TaskStatus, error_from_json
from oxpull_async.domain.surroundings import Run

__all__ = [
    "Audience",
    "asend_enqueued",
    "asend_finished",
    "asend_started",
    "audience",
    "ended",
    "is_wanted",
    "send_enqueued",
    "send_finished",
    "send_started",
]


class Audience(Enum):
    """Who listens to a signal: nobody, Django's own receiver for its log, or others too."""

    NOBODY = auto()
    LOG = auto()
    RECEIVERS = auto()


@dataclass(frozen=True, slots=True)
class _Own:
    """The receiver that Django itself connects, and the highest level at which it logs."""

    receiver: Callable[..., None]
    level: int


@dataclass(frozen=True, slots=True)
class _Brief:
    """As much of a result as Django's own receivers log; it takes no reading of the row."""

    id: str
    module_path: str
    status: TaskResultStatus
    backend: str

    @property
    def task(self) -> Self:
        """The task, as far as its path goes."""
        return self


_logger = logging.getLogger("django.tasks")
_OWN = {
    signals.task_enqueued: _Own(signals.log_task_enqueued, logging.DEBUG),
    signals.task_started: _Own(signals.log_task_started, logging.INFO),
    signals.task_finished: _Own(signals.log_task_finished, logging.ERROR),
}


def audience(signal: Signal) -> Audience:
    """Say who listens to a task signal at this moment."""
    own, is_connected = _OWN[signal], False
    for (key, _sender), *_ in signal.receivers:
        if key != id(own.receiver):
            return Audience.RECEIVERS
        is_connected = True
    return Audience.LOG if is_connected and _logger.isEnabledFor(own.level) else Audience.NOBODY


def is_wanted(signal: Signal) -> bool:
    """Say whether anybody listens; Django's own receiver counts while its log is switched on."""
    return audience(signal) is not Audience.NOBODY


def send_enqueued(sender: type, results: Iterable[AnyResult]) -> None:
    """Tell that tasks were enqueued; what a receiver raises goes to Django's log."""
    for result in results:
        signals.task_enqueued.send_robust(sender, task_result=result)


async def asend_enqueued(sender: type, results: Iterable[AnyResult]) -> None:
    """Tell that tasks were enqueued, coroutine receivers too."""
    for result in results:
        await signals.task_enqueued.asend_robust(sender, task_result=result)


def send_started(sender: type, alias: str, run: Run) -> None:
    """Tell that an attempt is about to start, on its own thread."""
    news = _started(sender, alias, run)
    if news is not None:
        signals.task_started.send_robust(sender, task_result=news)


async def asend_started(sender: type, alias: str, run: Run) -> None:
    """Tell that an attempt is about to start, coroutine receivers too."""
    news = _started(sender, alias, run)
    if news is not None:
        await signals.task_started.asend_robust(sender, task_result=news)


def send_finished(sender: type, alias: str, run: Run, outcome: Outcome) -> None:
    """Tell that a task has ended for good, on the thread that ran it."""
    news = _finished(sender, alias, run, outcome)
    if news is not None:
        signals.task_finished.send_robust(sender, task_result=news)


async def asend_finished(sender: type, alias: str, run: Run, outcome: Outcome) -> None:
    """Tell that a task has ended for good, coroutine receivers too."""
    news = _finished(sender, alias, run, outcome)
    if news is not None:
        await signals.task_finished.asend_robust(sender, task_result=news)


def _started(sender: type, alias: str, run: Run) -> TaskResult | None:
    """Return what receivers are told, None where there are none; Django's own, if alone, is told here."""
    heard_by = audience(signals.task_started)
    if heard_by is Audience.RECEIVERS:
        return None if run.record is None else result_of(run.record)
    if heard_by is Audience.LOG and _is_shown(logging.INFO):
        _OWN[signals.task_started].receiver(sender, _brief(alias, run, TaskResultStatus.RUNNING))
    return None


def _finished(sender: type, alias: str, run: Run, outcome: Outcome) -> TaskResult | None:
    heard_by = audience(signals.task_finished)
    if heard_by is Audience.RECEIVERS:
        return None if run.record is None else result_of(ended(run.record, outcome))
    is_success = isinstance(outcome, Succeeded)
    if heard_by is Audience.LOG and _is_shown(logging.INFO if is_success else logging.ERROR):
        status = TaskResultStatus.SUCCESSFUL if is_success else TaskResultStatus.FAILED
        _OWN[signals.task_finished].receiver(sender, _brief(alias, run, status))
    return None


def _is_shown(level: int) -> bool:
    """Whether a handler would take a line of Django's log; outside of DEBUG, Django's default ones take errors only."""
    logger: logging.Logger | None = _logger
    found = False
    while logger is not None:
        found = found or bool(logger.handlers)
        if any(level >= handler.level and not _waits_for_debug(handler) for handler in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return not found and logging.lastResort is not None and level >= logging.lastResort.level


def _waits_for_debug(handler: logging.Handler) -> bool:
    return not settings.DEBUG and any(isinstance(each, RequireDebugTrue) for each in handler.filters)


def _brief(alias: str, run: Run, status: TaskResultStatus) -> _Brief:
    return _Brief(run.claimed.id, run.claimed.task_path, status, alias)


def ended(record: TaskRecord, outcome: Outcome) -> TaskRecord:
    """Return a record as it will be once the outcome is written, but by this machine's clock."""
    now = datetime.now(UTC)
    if isinstance(outcome, Succeeded):
        value = json.loads(outcome.value)
        return replace(record, status=TaskStatus.SUCCESSFUL, return_value=value, finished_at=now, leased_by=None)
    errors = record.errors
    if isinstance(outcome, Failed):
        errors += (replace(error_from_json(json.loads(outcome.error)), at=now),)
    return replace(record, status=TaskStatus.FAILED, errors=errors, finished_at=now, leased_by=None)
