"""Where the loops of a worker announce what happens, and logging, displays and tests listen."""

import logging
from collections.abc import Callable
from typing import cast

from oxpull_async.domain.events import Event

logger = logging.getLogger("oxpull_async.worker")


class Hub:
    """Passes typed events to subscribers.

    Asking `wants` first spares the cost of events nobody listens to.
    """

    def __init__(self) -> None:
        self._subscribers: dict[type, list[Callable[[Event], None]]] = {}

    def subscribe[E](self, kind: type[E], callback: Callable[[E], None]) -> Callable[[], None]:
        """Call `callback` with every event of a kind; returns what ends that."""
        listener = cast("Callable[[Event], None]", callback)
        self._subscribers.setdefault(kind, []).append(listener)
        return lambda: self._subscribers[kind].remove(listener)

    def wants(self, kind: type) -> bool:
        """Whether anybody listens to events of a kind."""
        return bool(self._subscribers.get(kind))

    def emit(self, event: Event) -> None:
        """Pass an event to its subscribers, in the thread that calls this.

        What they raise is only logged.
        """
        for callback in tuple(self._subscribers.get(type(event), ())):
            try:
                callback(event)
            except Exception:
                logger.exception("a subscriber to %s failed", type(event).__name__)


async def nothing() -> None:
    """Do nothing: what a service calls until it is wired."""
