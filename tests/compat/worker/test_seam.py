"""What the core offers to frameworks: resolvers of paths, surroundings of bodies, a supervisor that does not tire."""

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oxpull_async import Oxpull, Task, TaskStatus
from oxpull_async.domain.outcome import Outcome, Succeeded
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.surroundings import Run
from oxpull_async.runtime import supervisor as module
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.lookup import RESOLVERS, Lookup
from oxpull_async.runtime.supervisor import Charge, Supervisor
from tests.fixtures.waiting import until
from tests.fixtures.workers import drain

PATH = "elsewhere.tasks.greet"


class Chronicle:
    """Surroundings that note what is done, and fail where a test wants it."""

    def __init__(self, fails_in: str = "", *, reads: bool = True) -> None:
        self.notes: list[str] = []
        self.outcome: Outcome | None = None
        self._fails_in = fails_in
        self._reads = reads

    def wants_record(self) -> bool:
        return self._reads

    def context(self, core: Any, record: TaskRecord) -> Any:
        return f"{record.status} {core.attempt}"

    @contextmanager
    def around(self, run: Run) -> Generator[None]:
        self._note(f"enter {run.claimed.attempt}")
        yield
        self._note("leave")

    def started(self, run: Run) -> None:
        self._note(f"started {'with' if run.record else 'without'} record")

    async def astarted(self, run: Run) -> None:
        self.started(run)

    def finished(self, run: Run, outcome: Outcome) -> None:
        self.outcome = outcome
        self._note(f"finished {run.claimed.attempt}")

    async def afinished(self, run: Run, outcome: Outcome) -> None:
        self.finished(run, outcome)

    def _note(self, text: str) -> None:
        self.notes.append(text)
        if self._fails_in and text.startswith(self._fails_in):
            raise RuntimeError(text)


def greet(context: str) -> str:
    return context


async def agreet(context: str) -> str:
    return context


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.db'}"


def run_in(url: str, chronicle: Chronicle, function: Any = greet) -> TaskRecord:
    """Run a task of another system, which a resolver finds, in a plain worker."""

    async def main() -> TaskRecord:
        async with Oxpull(url) as ox:
            await ox.migrate()
            declared = Oxpull(url).task(takes_context=True, max_attempts=1)(function)
            assert declared.body is not None
            task: Task[..., Any] = Task(ox, PATH, declared.options, replace(declared.body, surroundings=chronicle))
            RESOLVERS.append(lambda _host, path: task if path == PATH else None)
            try:
                result = await ox.remote(PATH, max_attempts=1).enqueue()
                await drain(ox)
            finally:
                RESOLVERS.pop()
            return await ox.read(result.id)

    return asyncio.run(main())


@pytest.mark.parametrize("function", [greet, agreet])
def test_surroundings_see_the_attempt_from_its_start_to_its_outcome(url: str, function: Any) -> None:
    chronicle = Chronicle()
    record = run_in(url, chronicle, function)
    assert chronicle.notes == ["enter 1", "started with record", "finished 1", "leave"]
    assert record.return_value == "RUNNING 1"
    assert chronicle.outcome == Succeeded('"RUNNING 1"')


@pytest.mark.parametrize("function", [greet, agreet])
@pytest.mark.parametrize("moment", ["enter", "started", "leave"])
def test_surroundings_that_fail_fail_the_attempt(url: str, function: Any, moment: str) -> None:
    record = run_in(url, Chronicle(moment), function)
    assert (record.status, record.attempts) == (TaskStatus.FAILED, 1)
    assert moment in record.errors[0].traceback


@pytest.mark.parametrize("function", [greet, agreet])
def test_a_fault_in_telling_the_end_does_not_change_it(url: str, function: Any) -> None:
    assert run_in(url, Chronicle("finished"), function).status is TaskStatus.SUCCESSFUL


def test_a_resolver_that_raises_leaves_the_path_unknown_and_is_logged(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(host: Host, path: str) -> None:
        raise RuntimeError("cannot look")

    RESOLVERS.insert(0, broken)
    try:
        lookup = Lookup(Oxpull(url))
        assert lookup.find(PATH) is None
        assert lookup.unknown == {PATH}
    finally:
        RESOLVERS.remove(broken)
    assert "cannot look" in caplog.text


def test_a_path_is_resolved_once_and_its_functions_are_known(url: str) -> None:
    asked: list[str] = []
    task = Oxpull(url).task(greet)

    def resolve(host: Host, path: str) -> Any:
        asked.append(path)
        return task

    RESOLVERS.insert(0, resolve)
    try:
        lookup = Lookup(Oxpull(url))
        assert lookup.find(PATH) == lookup.find(PATH)
    finally:
        RESOLVERS.remove(resolve)
    assert asked == [PATH]
    assert lookup.functions == {PATH}


def test_a_tireless_supervisor_starts_what_fails_until_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 0.01)
    program = f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); raise SystemExit(1)"

    async def main() -> int:
        supervisor = Supervisor(Charge([sys.executable, "-S", "-c", program], 1, 30.0, tireless=True))
        running = asyncio.create_task(supervisor.run())

        async def started_often() -> bool:
            return running.done() or supervisor_starts(tmp_path) > module.MOST_AT_ONCE + 1

        await until(started_often)
        supervisor.stop()
        assert (await running).gave_up is None
        return supervisor_starts(tmp_path)

    assert asyncio.run(main()) > module.MOST_AT_ONCE


def supervisor_starts(folder: Path) -> int:
    """Count how often the program was started."""
    path = folder / "starts"
    return len(path.read_text()) if path.exists() else 0
