"""What was enqueued while a test looked, and what it may assert about it."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack, overload

from django.utils.json import normalize_json

from compat_sync.connection import DjangoConnection
from compat_sync.django_types import AnyTask
from compat_sync.exceptions import UsageError, translated
from compat_sync.results import TaskResult
from compat_sync.shim import WrongWorld, run_blocking
from compat_sync.watching import WATCHERS
from oxpull_async.app.task import Call
from oxpull_async.store.results import get_tasks

__all__ = ["CallDetails", "CapturedTasks", "captured_tasks", "innermost"]

MOST_LINES = 20

_open: list["CapturedTasks"] = []


@dataclass(frozen=True, slots=True)
class _Enqueued:
    """One call and its answer."""

    path: str
    args: list[Any]
    kwargs: dict[str, Any]
    result: TaskResult

    def __str__(self) -> str:
        named = [*(repr(arg) for arg in self.args), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        answer = "" if self.result.created else f", answered with the pending task {self.result.id}"
        return f"{self.path}({', '.join(named)}) on the queue {self.result.task.queue_name!r}{answer}"


class CallDetails(TypedDict, total=False):
    """What an assertion may say about calls; what it does not say may be anything."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    queue_name: str


class _Wanted:
    """Which calls an assertion is about; no task stands for any."""

    def __init__(self, task: AnyTask | str | None, said: CallDetails) -> None:
        self._path = task if isinstance(task, str | None) else task.module_path
        self._said = {name: normalize_json(value) for name, value in said.items()}

    def __str__(self) -> str:
        said = "".join(f", {name}={value!r}" for name, value in self._said.items())
        return f"{self._path or 'any task'}{said}"

    def matches(self, one: _Enqueued) -> bool:
        """Whether a call is one of those."""
        has = {"args": one.args, "kwargs": one.kwargs, "queue_name": one.result.task.queue_name}
        return self._path in {None, one.path} and all(has[name] == value for name, value in self._said.items())


class CapturedTasks(Sequence[TaskResult]):
    """The results of the tasks that were enqueued in a block, in order.

    Calls that a unique key answered are apart, in `deduplicated`. Results are as they were enqueued until `refresh()`.
    """

    def __init__(self) -> None:
        self._calls: list[_Enqueued] = []

    def add(self, call: Call[Any], result: TaskResult) -> None:
        """Take note of a call and its answer."""
        args: Any = normalize_json(call.args)
        kwargs: Any = normalize_json(call.kwargs)
        self._calls.append(_Enqueued(call.task.path, args, kwargs, result))

    @property
    def deduplicated(self) -> list[TaskResult]:
        """The results of the calls that were answered with a task that was pending already."""
        return [one.result for one in self._calls if not one.result.created]

    @overload
    def __getitem__(self, index: int) -> TaskResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[TaskResult]: ...
    def __getitem__(self, index: int | slice) -> TaskResult | list[TaskResult]:
        return [one.result for one in self._calls if one.result.created][index]

    def __len__(self) -> int:
        return sum(one.result.created for one in self._calls)

    def __iter__(self) -> Iterator[TaskResult]:
        return iter(self[:])

    def __repr__(self) -> str:
        return f"<CapturedTasks {[str(one) for one in self._calls]}>"

    def assert_enqueued(
        self, task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]
    ) -> list[TaskResult]:
        """Assert that a task (or its dotted path) was enqueued, and return the results.

        What is said of `args`, `kwargs` and `queue_name` must be so of the call. Without `times` once is enough. A task
        whose enqueue was rolled back does not count. Raises: AssertionError listing what was enqueued instead.
        """
        return self._require(_Wanted(task, said), self._stored(), times, "enqueued")

    def assert_not_enqueued(self, task: AnyTask | str | None = None, **said: Unpack[CallDetails]) -> None:
        """Assert that a task was not enqueued, or no task at all.

        One whose enqueue was rolled back was not.
        """
        self._require(_Wanted(task, said), self._stored(), 0, "enqueued")

    def assert_deduplicated(
        self, task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]
    ) -> list[TaskResult]:
        """Assert that calls were answered with a pending task, whose results are returned.

        `args` and `kwargs` are those of the call that was answered, `queue_name` is the pending task's.
        """
        answered = [one for one in self._calls if not one.result.created]
        return self._require(_Wanted(task, said), answered, times, "deduplicated")

    def _require(self, wanted: _Wanted, among: list[_Enqueued], times: int | None, verb: str) -> list[TaskResult]:
        found = [one.result for one in among if wanted.matches(one)]
        if (times is None and found) or len(found) == times:
            return found
        expected = "at least once" if times is None else f"{times} times"
        raise AssertionError(
            f"{wanted} should have been {verb} {expected}, and was {len(found)} times.\n{self._listed()}"
        )

    def _listed(self) -> str:
        stored = {one.result.id for one in self._stored()}
        lines = [
            f"  {one}{'' if one.result.id in stored or not one.result.created else ', rolled back'}"
            for one in self._calls
        ]
        if not lines:
            return "Nothing was enqueued."
        more = [f"  and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        return "\n".join(["Enqueued were:", *lines[:MOST_LINES], *more])

    def _stored(self) -> list[_Enqueued]:
        """Return the created tasks that are still there, as a rollback leaves them."""
        created = [one for one in self._calls if one.result.created]
        gone: set[str] = set()
        for alias in {place for one in created if (place := _place(one.result))}:
            ids = [one.result.id for one in created if _place(one.result) == alias]
            gone |= set(ids) - _read(alias, ids)
        return [one for one in created if one.result.id not in gone]


def _read(alias: str, ids: Sequence[str]) -> set[str]:
    """Return the ids of those tasks that are in the database."""
    try:
        with translated():
            return set(run_blocking(get_tasks(DjangoConnection(alias), ids)))
    except WrongWorld:
        raise UsageError("assertions read the database: in a coroutine, await sync_to_async(assert_…)(…)") from None


def _place(result: TaskResult) -> str | None:
    """Return the alias of the database that a result is in; None where it is in memory only."""
    backend: Any = result.task.get_backend()
    return getattr(backend, "database", None)


@contextmanager
def captured_tasks() -> Generator[CapturedTasks]:
    """Note what this process enqueues in the block, on any thread and either path."""
    captured = CapturedTasks()
    watcher = captured.add
    _open.append(captured)
    WATCHERS.append(watcher)
    try:
        yield captured
    finally:
        WATCHERS.remove(watcher)
        _open.remove(captured)


def innermost() -> CapturedTasks:
    """Return the captured tasks of the innermost open block.

    Raises: UsageError where none is open.
    """
    if not _open:
        raise UsageError(
            "nothing has been noted: assert inside `with captured_tasks():`, in a TestCase with the mixin "
            "TaskAssertions, or in a test that takes the fixture oxpull_tasks"
        )
    return _open[-1]
