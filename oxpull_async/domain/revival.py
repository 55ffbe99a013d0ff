"""Which nodes of a workflow can run once more when one is retried."""

from collections import deque
from collections.abc import Collection, Iterable

from oxpull_async.domain.record import TaskId

type DoomingEdge = tuple[TaskId, TaskId, str | None]
"""An edge whose bad end discards what is behind it: upstream, downstream, what the upstream is counted as."""

_BAD = frozenset({"failed", "unattributed"})


def revivable(ids: Collection[TaskId], edges: Iterable[DoomingEdge]) -> set[TaskId]:
    """Return those of these ended nodes that nothing outside of them keeps from running."""
    behind: dict[TaskId, list[TaskId]] = {}
    doomed: deque[TaskId] = deque()
    for upstream, downstream, counted in edges:
        if upstream in ids:
            behind.setdefault(upstream, []).append(downstream)
        elif counted in _BAD:
            doomed.append(downstream)
    left = set(ids)
    while doomed:
        id_ = doomed.popleft()
        if id_ in left:
            left.remove(id_)
            doomed.extend(behind.get(id_, ()))
    return left
