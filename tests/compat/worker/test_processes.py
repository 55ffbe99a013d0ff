"""`manage.py oxpull_worker` in processes of its own: bursts, stops, supervision, crashes and reloads."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.tasks import TaskResultStatus

from tests.cli.support import Program, until
from tests.compat import shop
from tests.compat.conftest import Kind
from tests.compat.worker import tasks
from tests.compat.worker.project import manage

MANAGE = """
import os, sys
os.environ["SITE_MANAGED"] = "1"
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
"""


@pytest.fixture
def url(url_of: Callable[[Kind], str], kind: Kind, served: str) -> str:
    """Name the site's database as a process does."""
    return url_of(kind)


def settled(result: Any) -> bool:
    """Tell whether a task has ended."""
    result.refresh()
    return bool(result.is_finished)


def lines(path: Path) -> list[int]:
    """List the processes that left a line."""
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def children(program: Program) -> list[int]:
    """List the processes that a supervisor keeps."""
    return [child.pid for child in psutil.Process(program.process.pid).children()]


def changed(path: Path) -> bool:
    """Make a file newer than it is: the reloader may not have seen it yet."""
    newer = path.stat().st_mtime + 1
    os.utime(path, (newer, newer))
    return True


def test_a_burst_runs_what_is_there_and_prints_one_document(url: str, tmp_path: Path) -> None:
    results = [shop.send_invoice.enqueue(1), shop.fetch.enqueue("x"), tasks.query.enqueue()]
    with manage(tmp_path, url, "oxpull_worker", "--burst", "--json", "--log-level", "warning") as worker:
        assert worker.code() == 0, worker.errors
    assert all(settled(result) for result in results)
    assert json.loads(worker.output) == {"done": 3, "remaining": 0, "recycled": None}
    assert worker.errors == ""


def test_sigterm_waits_for_running_tasks_and_claims_no_more(url: str, tmp_path: Path) -> None:
    ran, go = tmp_path / "ran", tmp_path / "go"
    held, aheld = tasks.hold.enqueue(str(ran), str(go)), tasks.ahold.enqueue(str(ran), str(go))
    with manage(tmp_path, url, "oxpull_worker") as worker:
        until(lambda: len(lines(ran)) == 2, f"the tasks: {worker.errors}")
        worker.process.send_signal(signal.SIGTERM)
        later = shop.send_invoice.enqueue(2)
        go.touch()
        assert worker.code() == 0, worker.errors
    assert settled(held)
    assert settled(aheld)
    later.refresh()
    assert later.status == TaskResultStatus.READY


def test_another_worker_takes_over_from_one_that_was_killed(url: str, tmp_path: Path) -> None:
    ran, go = tmp_path / "ran", tmp_path / "go"
    result = tasks.hold.enqueue(str(ran), str(go))
    with manage(tmp_path, url, "oxpull_worker") as first:
        until(lambda: lines(ran), f"the task: {first.errors}")
        first.process.kill()
        go.touch()
        with manage(tmp_path, url, "oxpull_worker") as second:
            until(lambda: settled(result), f"the takeover: {second.errors}")
            second.process.send_signal(signal.SIGTERM)
            assert second.code() == 0
    assert lines(ran) == [first.process.pid, second.process.pid]
    assert (result.return_value, result.attempts) == ("held", 2)


def test_several_processes_share_the_work_and_one_that_dies_is_replaced(url: str, tmp_path: Path) -> None:
    ran, go = tmp_path / "ran", tmp_path / "go"
    results = [tasks.hold.enqueue(str(ran), str(go)) for _ in range(2)]
    options = ("--processes", "2", "--concurrency", "1", "--threads", "1")
    with manage(tmp_path, url, "oxpull_worker", *options) as supervisor:
        until(lambda: len(set(lines(ran))) == 2, f"two processes: {supervisor.errors}")
        os.kill(lines(ran)[0], signal.SIGKILL)
        supervisor.says("was ended by SIGKILL")
        go.touch()
        until(lambda: all(settled(result) for result in results), "both tasks")
        until(lambda: len(children(supervisor)) == 2, "the replacement")
        supervisor.process.send_signal(signal.SIGTERM)
        assert supervisor.code() == 0, supervisor.errors


@pytest.mark.parametrize("kind", ["postgres"])
def test_children_are_started_by_the_projects_own_manage_py(url: str, tmp_path: Path, kind: Kind) -> None:
    (tmp_path / "manage.py").write_text(MANAGE)
    own = (sys.executable, str(tmp_path / "manage.py"))
    result = tasks.environment.enqueue("SITE_MANAGED")
    with manage(tmp_path, url, "oxpull_worker", "--processes", "1", "--burst", program=own) as supervisor:
        assert supervisor.code() == 0, supervisor.errors
    result.refresh()
    assert result.return_value == "1"


@pytest.mark.parametrize("kind", ["postgres"])
def test_a_changed_file_restarts_the_worker_after_handing_back(url: str, tmp_path: Path, kind: Kind) -> None:
    ran, module = tmp_path / "ran", tmp_path / "edited.py"
    module.write_text("VERSION = 'old'\n")
    held = tasks.ahold.enqueue(str(ran), str(tmp_path / "go"))
    first = tasks.version.enqueue("edited")
    with manage(tmp_path, url, "oxpull_worker", "--reload", DEBUG=True) as worker:
        until(lambda: lines(ran) and settled(first), f"the tasks: {worker.errors}")
        module.write_text("VERSION = 'new'\n")
        until(lambda: changed(module) and "a file has changed" in worker.errors, f"the end: {worker.errors}")
        until(lambda: len(set(lines(ran))) == 2, f"the restart: {worker.errors}")
        second = tasks.version.enqueue("edited")
        until(lambda: settled(second), f"the new code: {worker.errors}")
        (tmp_path / "go").touch()
        until(lambda: settled(held), "the task that was handed back")
        worker.process.send_signal(signal.SIGTERM)
        assert worker.code() == 0, worker.errors
    assert (first.return_value, second.return_value, held.attempts) == ("old", "new", 1)


def test_a_plain_worker_in_a_process_with_django_runs_its_tasks(url: str, tmp_path: Path) -> None:
    result, query = tasks.tell.enqueue(), tasks.query.enqueue()
    plain = (sys.executable, "-m", "oxpull_async", "worker", "tests.compat.worker.plain:ox", "--burst")
    with manage(tmp_path, url, program=plain) as worker:
        assert worker.code() == 0, worker.errors
    result.refresh()
    query.refresh()
    assert (result.return_value["attempt"], query.return_value) == (1, [False, True]), worker.errors


def test_a_coroutine_s_other_threads_find_no_connection_that_broke(url: str, tmp_path: Path) -> None:
    results: list[Any] = [tasks.ask_in_threads.enqueue() for _ in range(2)]
    entry = {"CONN_MAX_AGE": None}
    with manage(tmp_path, url, "oxpull_worker", "--burst", "--concurrency", "1", ENTRY=entry) as worker:
        assert worker.code() == 0, worker.errors
    for result in results:
        result.refresh()
        assert (result.status, result.errors) == (TaskResultStatus.SUCCESSFUL, [])
        assert result.return_value == [False, True] * 4
