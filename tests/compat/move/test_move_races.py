"""A move beside other moves, beside old workers, and cut off half-way: each task is in one place, and none is lost."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest
from django.db import connections, transaction

from compat_sync import batches
from compat_sync.models import OxpullWorkflowCounts
from compat_sync.move import MoveReport, MoveRequest, move
from compat_sync.shim import run_blocking
from tests.compat.conftest import Kind
from tests.compat.move.project import NEW_TASKS, OldProcess, OldProject, environment, oxpull_move
from tests.compat.projects import ROOT
from tests.fixtures.waiting import PATIENCE

NEW_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "compat_sync"]
ADD_CHECK = {
    "postgres": "ALTER TABLE oxpull_task ADD CONSTRAINT no_seven CHECK (args::text <> '[7]')",
    "mysql": "ALTER TABLE oxpull_task ADD CONSTRAINT no_seven CHECK (args <> '[7]')",
    "sqlite": "CREATE TRIGGER no_seven BEFORE INSERT ON oxpull_task WHEN NEW.args = '[7]' "
    "BEGIN SELECT RAISE(ABORT, 'no seven'); END",
}
DROP_CHECK = {
    "postgres": "ALTER TABLE oxpull_task DROP CONSTRAINT no_seven",
    "mysql": "ALTER TABLE oxpull_task DROP CONSTRAINT no_seven",
    "sqlite": "DROP TRIGGER no_seven",
}


def wait_for(condition: object) -> None:
    """Ask until the answer is true."""
    assert callable(condition)
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends


def move_apart(alias: str) -> MoveReport:
    """Move in a thread of its own, on a connection of its own."""
    try:
        return move(alias, MoveRequest(batch_size=7))
    finally:
        connections[alias].close()


def test_two_moves_at_once_move_each_task_once(old: OldProject) -> None:
    ids = [*old.run("enqueue_many_plain", 150), *old.run("enqueue_unique", 30)]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(move_apart, [old.alias, old.alias]))
    reports.append(move_apart(old.alias))
    assert sum(report.ready for report in reports) == len(ids)
    assert sum(report.keys for report in reports) == 30
    assert old.tasks().keys() == set(ids)
    assert old.rows() == {}


def test_a_move_beside_old_workers_takes_only_what_none_of_them_has(old: OldProject) -> None:
    ids = set(old.run("enqueue_many_plain", 200))
    with closing(OldProcess(old.project)) as other:
        for process in (other, old.process):
            process.begin("work")
        wait_for(lambda: "SUCCESSFUL" in old.rows().values())
        moved = move(old.alias, MoveRequest(batch_size=2)).ready
        ran = other.answer() + old.process.answer()
    moved += move(old.alias, MoveRequest()).ready
    rows, tasks = old.rows(), old.tasks()
    assert set(rows.values()) == {"SUCCESSFUL"}
    assert rows.keys() | tasks.keys() == ids
    assert rows.keys().isdisjoint(tasks.keys())
    assert (len(rows), len(tasks)) == (ran, moved)
    assert {task.attempts for task in tasks.values()} <= {0}


def test_two_moves_at_once_move_each_batch_and_workflow_once(old: OldProject) -> None:
    ids = [old.run("enqueue_batch", True)["batch"] for _ in range(3)] + [old.run("enqueue_two_batches")["first"]]
    flows = [old.run("enqueue_workflow", True)["workflow"] for _ in range(3)]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(move_apart, [old.alias, old.alias]))
    reports.append(move_apart(old.alias))
    assert (sum(report.batches for report in reports), sum(report.workflows for report in reports)) == (5, 3)
    assert (old.rows(), old.open_groups()) == ({}, [])
    # What came after them had old workers run all but the last ones.
    assert [batches.get(id_).progress().finished for id_ in ids] == [4, 4, 4, 1]
    statuses = [OxpullWorkflowCounts.objects.get(pk=id_).status for id_ in flows]
    assert statuses == ["COMPLETE", "COMPLETE", "SEALED"]


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
@pytest.mark.parametrize("what", ["oxpull_oxpullbatch", "django_ox_oxtask"])
def test_a_batch_of_which_another_transaction_has_a_row_locked_stays_whole(
    old: OldProject, kind: Kind, what: str
) -> None:
    ids = old.run("enqueue_batch", True)
    row = ids["batch"] if what == "oxpull_oxpullbatch" else ids["ready"]
    with ThreadPoolExecutor(1) as pool, transaction.atomic(using=old.alias):
        with connections[old.alias].cursor() as cursor:
            cursor.execute(f"SELECT id FROM {what} WHERE id = %s FOR UPDATE", [row.replace("-", "")])
        report = pool.submit(move_apart, old.alias).result()
    assert [reason.endswith("another transaction had it locked. Run this again") for reason in
            report.left_batches.values()] == [True]  # fmt: skip
    assert (len(old.rows()), old.open_groups(), old.tasks()) == (3, ["import"], {})
    assert "Moved 1 batch." in oxpull_move()


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_a_row_that_another_transaction_has_locked_is_left_to_it(old: OldProject, kind: Kind) -> None:
    first, second = sorted(old.run("enqueue_many_plain", 2))
    with ThreadPoolExecutor(1) as pool, transaction.atomic(using=old.alias):
        with connections[old.alias].cursor() as cursor:
            cursor.execute("SELECT id FROM django_ox_oxtask WHERE id = %s FOR UPDATE", [first.replace("-", "")])
        report = pool.submit(move_apart, old.alias).result()
    assert list(report.left) == [first]
    assert "another transaction had it locked" in report.left[first]
    assert list(old.tasks()) == [second]
    assert oxpull_move().startswith("Moved 1 task,")


def test_a_move_that_is_killed_has_lost_nothing_and_goes_on_when_it_is_called_again(old: OldProject) -> None:
    ids = {*old.run("enqueue_many_plain", 250), *old.run("enqueue_unique", 20)}
    settings = old.project.folder / "new_settings.py"
    settings.write_text(
        "from project_settings import *\n"
        f"INSTALLED_APPS = {NEW_APPS!r}\nTASKS = {NEW_TASKS!r}\nDATABASES['default']['OPTIONS'] = {{}}\n"
    )
    mover = subprocess.Popen(
        (sys.executable, "-m", "django", "oxpull_move", "--batch-size", "1", "--import", "tests.compat.move.shop"),
        env=environment(old.project) | {"DJANGO_SETTINGS_MODULE": "new_settings"},
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        wait_for(lambda: len(old.tasks()) > 20 or mover.poll() is not None)
        mover.send_signal(signal.SIGKILL)
    finally:
        printed, _ = mover.communicate()
    assert mover.returncode == -signal.SIGKILL, printed
    rows, tasks = old.rows(), old.tasks()
    assert rows
    assert rows.keys() | tasks.keys() == ids
    assert rows.keys().isdisjoint(tasks.keys())
    wait_for(lambda: move(old.alias, MoveRequest()) is not None and not old.rows())
    assert old.tasks().keys() == ids
    assert len(old.locks()) == 0


def test_a_task_that_the_database_refuses_is_left_alone_and_named(old: OldProject, kind: Kind) -> None:
    ids = old.run("enqueue_many_plain", 20)
    with refusing_seven(old, kind):
        printed = oxpull_move()
    assert printed.startswith("Moved 19 tasks")
    assert "Left 1 task: the database refuses it: " in printed
    assert list(old.rows()) == [ids[7]]
    assert oxpull_move().startswith("Moved 1 task,")


@contextmanager
def refusing_seven(old: OldProject, kind: Kind) -> Iterator[None]:
    """Let the database refuse one of the tasks for the block."""
    run_blocking(old.conn.run_script(ADD_CHECK[kind]))
    yield
    run_blocking(old.conn.run_script(DROP_CHECK[kind]))
