"""Logging as a subscriber: every event becomes one line, at a level that fits."""

import logging

from oxpull_async.domain import events
from oxpull_async.domain.events import Event
from oxpull_async.domain.sentences import sentence
from oxpull_async.runtime.hub import Hub

logger = logging.getLogger("oxpull_async.worker")

_LEVELS: dict[type, int] = {
    events.WorkerStarted: logging.INFO,
    events.WorkerStopped: logging.INFO,
    events.TasksClaimed: logging.DEBUG,
    events.TaskStarted: logging.DEBUG,
    events.TaskSettled: logging.DEBUG,
    events.OutcomeIgnored: logging.WARNING,
    events.AttemptFailed: logging.WARNING,
    events.LeaseLost: logging.ERROR,
    events.TasksReaped: logging.WARNING,
    events.TasksReleased: logging.INFO,
    events.LoopBlocked: logging.WARNING,
    events.DatabaseDown: logging.WARNING,
    events.ListenerLost: logging.WARNING,
    events.TaskUnknown: logging.WARNING,
    events.BatchesReconciled: logging.WARNING,
    events.WorkflowsReconciled: logging.WARNING,
    events.ScheduleTicked: logging.DEBUG,
    events.ScheduleFailed: logging.WARNING,
}


def subscribe_logging(hub: Hub) -> None:
    """Log every event whose level the logger lets through now; the others cost nothing."""
    for kind, level in _LEVELS.items():
        if logger.isEnabledFor(level):
            hub.subscribe(kind, _log)


def _log(event: Event) -> None:
    logger.log(_LEVELS[type(event)], "%s", sentence(event), extra={"oxpull_event": event})
