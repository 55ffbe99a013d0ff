"""Find the task that a row names, importing its module where that is allowed."""

import importlib
import time
from collections.abc import Collection
from dataclasses import dataclass

from oxpull_async.domain.retry import RetryPolicy
from oxpull_async.domain.task import Body
from oxpull_async.runtime.host import Host, RunnableTask

REMEMBERED = 60.0


@dataclass(frozen=True, slots=True)
class Runnable:
    """What it takes to run a task: its function and how its failures are treated."""

    body: Body
    policy: RetryPolicy


class Lookup:
    """Resolves dotted paths to tasks; a path that names none is left alone for a minute."""

    def __init__(self, host: Host, imports: Collection[str] = ()) -> None:
        self._host = host
        self._imports = frozenset(imports)
        self._unknown: dict[str, float] = {}

    def find(self, path: str) -> Runnable | None:
        """Return what runs the rows of a path, or None.

        A module is imported only below a known top package.
        """
        task = self._host.tasks.get(path)
        if task is None and self._unknown.get(path, 0.0) <= time.monotonic():
            task = self._import(path)
        if task is None or task.body is None:
            self._unknown[path] = time.monotonic() + REMEMBERED
            return None
        return Runnable(task.body, task.options.policy)

    @property
    def unknown(self) -> frozenset[str]:
        """The paths that did not resolve within the last minute; the lease thread reads them too."""
        now = time.monotonic()
        return frozenset(path for path, until in dict(self._unknown).items() if until > now)

    def _import(self, path: str) -> RunnableTask | None:
        top = path.partition(".")[0]
        known = {known.partition(".")[0] for known in self._host.tasks} | self._imports
        if top not in known:
            return None
        module = path.rpartition(".")[0]
        try:
            importlib.import_module(module)
        except (Exception, SystemExit):  # noqa: BLE001 - a module's import may raise anything; the row stays untouched
            return None
        return self._host.tasks.get(path)
