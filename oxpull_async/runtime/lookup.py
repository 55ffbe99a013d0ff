"""Find the task that a row names, importing its module where that is allowed."""

import importlib
import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from oxpull_async.domain.retry import RetryPolicy
from oxpull_async.domain.task import Body
from oxpull_async.runtime.host import Host, RunnableTask

REMEMBERED = 60.0
NOT_DECLARED = "no task of this path is declared here; --import names packages whose modules may be imported"

type Resolver = Callable[[Host, str], RunnableTask | None]

RESOLVERS: Final[list[Resolver]] = []
"""How other task systems of this process find theirs for a host, asked in turn about paths it does not know."""

logger = logging.getLogger("oxpull_async.worker")


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
        self._resolved: dict[str, RunnableTask] = {}
        self._unknown: dict[str, float] = {}

    def find(self, path: str) -> Runnable | None:
        """Return what runs the rows of a path, or None.

        A module is imported only below a known top package.
        """
        task = self._host.tasks.get(path) or self._resolved.get(path)
        if task is None and self._unknown.get(path, 0.0) <= time.monotonic():
            task = self._search(path)
        if task is None or task.body is None:
            self._unknown[path] = time.monotonic() + REMEMBERED
            return None
        return Runnable(task.body, task.options.policy)

    @property
    def unknown(self) -> frozenset[str]:
        """The paths that did not resolve within the last minute; the lease thread reads them too."""
        now = time.monotonic()
        return frozenset(path for path, until in dict(self._unknown).items() if until > now)

    @property
    def functions(self) -> frozenset[str]:
        """The paths of the known tasks that are plain functions."""
        known = (*self._host.tasks.items(), *self._resolved.items())
        return frozenset(path for path, task in known if task.body is not None and not task.body.is_coroutine)

    def _search(self, path: str) -> RunnableTask | None:
        self._import(path)
        return self._host.tasks.get(path) or self._resolve(path)

    def _import(self, path: str) -> None:
        top = path.partition(".")[0]
        known = {known.partition(".")[0] for known in self._host.tasks} | self._imports
        if top not in known:
            return
        module = path.rpartition(".")[0]
        try:
            importlib.import_module(module)
        except (Exception, SystemExit):  # noqa: BLE001 - a module's import may raise anything; the row stays untouched
            return

    def _resolve(self, path: str) -> RunnableTask | None:
        for resolve in RESOLVERS:
            try:
                found = resolve(self._host, path)
            except Exception:
                logger.exception("%s could not be looked up", path)
                continue
            if found is not None:
                self._resolved[path] = found
                return found
        return None
