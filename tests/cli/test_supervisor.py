"""`oxpull worker --processes`: what dies is replaced, what has finished is not, and nobody is left behind."""

import json
import os
import re
import signal
from pathlib import Path

import psutil
import pytest

from tests.cli.support import Program, enqueue, program, run, statuses, until


@pytest.fixture
def url(sqlite_url: str) -> str:
    """Name a migrated database."""
    assert run("migrate", "--url", sqlite_url).exit_code == 0
    return sqlite_url


def children(parent: Program) -> list[psutil.Process]:
    return [child for child in psutil.Process(parent.process.pid).children() if child.status() != psutil.STATUS_ZOMBIE]


def gone(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


def test_a_burst_ends_with_its_children_and_restarts_none(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.note", str(tmp_path / "notes"), count=20)
    with program(tmp_path, url, "worker", "shop:ox", "--burst", "--processes", "2", "--json") as parent:
        assert parent.code() == 0, parent.errors
    assert json.loads(parent.output) == {"processes": 2, "restarts": 0, "gave_up": None}
    assert statuses(url, ids) == {"SUCCESSFUL"}
    assert parent.errors.count("ended in order") == 2


def test_a_killed_child_is_replaced_and_its_siblings_work_on(url: str, tmp_path: Path) -> None:
    with program(tmp_path, url, "worker", "shop:ox", "--processes", "2") as parent:
        victim, sibling = until(lambda: found if len(found := children(parent)) == 2 else None, "two children") or []
        victim.kill()
        parent.says(f"process {victim.pid} was ended by SIGKILL")
        parent.says("process ", times=4)
        fresh = until(lambda: [c for c in children(parent) if c.pid not in {victim.pid, sibling.pid}], "a new child")
        assert sibling.is_running()
        ids = enqueue(url, "shop.note", str(tmp_path / "notes"), count=5)
        until(lambda: statuses(url, ids) == {"SUCCESSFUL"}, "the tasks")
        parent.process.send_signal(signal.SIGTERM)
        assert parent.code() == 0, parent.errors
    assert gone([sibling, *fresh])


def test_sigterm_drains_every_child(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.rest", str(tmp_path / "running"), 1.0, count=4)
    with program(tmp_path, url, "worker", "shop:ox", "--processes", "2", "--concurrency", "2") as parent:
        until(lambda: lines(tmp_path / "running") == 4, "four running tasks")
        parent.process.send_signal(signal.SIGTERM)
        assert parent.code() == 0, parent.errors
    assert statuses(url, ids) == {"SUCCESSFUL"}


def test_a_second_signal_hands_back_at_once(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.rest", str(tmp_path / "running"), 600.0, count=2)
    with program(tmp_path, url, "worker", "shop:ox", "--processes", "2") as parent:
        until(lambda: lines(tmp_path / "running") == 2, "the running tasks")
        until(lambda: len(re.findall(r"worker \S+ started", parent.errors)) == 2, "both workers")
        parent.process.send_signal(signal.SIGINT)
        parent.says("stopping 2 processes")
        parent.process.send_signal(signal.SIGINT)
        assert parent.code() == 0, parent.errors
    assert statuses(url, ids) == {"READY"}


def test_a_second_signal_counts_for_a_child_that_did_not_run_between_the_two(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.rest", str(tmp_path / "running"), 600.0, count=2)
    with program(tmp_path, url, "worker", "shop:ox", "--processes", "2", "--drain-timeout", "600s") as parent:
        until(lambda: lines(tmp_path / "running") == 2, "the running tasks")
        until(lambda: len(re.findall(r"worker \S+ started", parent.errors)) == 2, "both workers")
        found = children(parent)
        for child in found:
            child.suspend()
        parent.process.send_signal(signal.SIGINT)
        parent.says("stopping 2 processes")
        parent.process.send_signal(signal.SIGINT)
        parent.says("stopping 2 processes at once")
        for child in found:
            child.resume()
        assert parent.code() == 0, parent.errors
    assert statuses(url, ids) == {"READY"}


def test_a_terminals_ctrl_c_reaches_the_children_once(url: str, tmp_path: Path) -> None:
    with program(tmp_path, url, "worker", "shop:ox", "--processes", "2") as parent:
        found = until(lambda: found if len(found := children(parent)) == 2 else None, "two children") or []
        groups = {os.getpgid(child.pid) for child in found}
        assert groups == {child.pid for child in found}
        parent.process.send_signal(signal.SIGTERM)
        assert parent.code() == 0


def test_children_of_a_killed_supervisor_finish_their_tasks_and_end(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.rest", str(tmp_path / "running"), 1.0, count=2)
    with program(tmp_path, url, "worker", "shop:ox", "--processes", "2") as parent:
        until(lambda: lines(tmp_path / "running") == 2, "the running tasks")
        orphans = children(parent)
        parent.process.kill()
        until(lambda: gone(orphans), "the end of the children")
    assert len(orphans) == 2
    assert statuses(url, ids) == {"SUCCESSFUL"}


def test_a_child_that_has_run_its_max_tasks_is_replaced_at_once(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.note", str(tmp_path / "notes"), count=3)
    arguments = ("worker", "shop:ox", "--processes", "1", "--max-tasks", "1", "--burst", "--json")
    with program(tmp_path, url, *arguments) as parent:
        assert parent.code() == 0, parent.errors
    assert json.loads(parent.output)["restarts"] == 3
    assert statuses(url, ids) == {"SUCCESSFUL"}
    assert "starting another process in" not in parent.errors


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0
