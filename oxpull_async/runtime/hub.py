"""Where the loops of a worker announce what happens, and logging, displays and tests listen."""

from collections.abc import Callable
from typing import cast

from oxpull_async.domain.events import Event


class Hub:
    """Passes typed events to subscribers; asking `wants` first spares the cost of events nobody listens to."""

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
        """Pass an event to its subscribers, in the thread that calls this."""
        for callback in tuple(self._subscribers.get(type(event), ())):
            callback(event)
