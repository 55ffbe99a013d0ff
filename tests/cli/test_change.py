"""`oxpull retry`, `discard`, `cancel`, `pause`, `resume`: exit 0 only when everything asked for was done."""

import pytest

from oxpull_async.domain.record import TaskStatus
from tests.cli.support import document, run, statuses, store
from tests.fixtures import make

MISSING = "01a227dd-088b-70c1-9dae-edcf96f9f75d"


@pytest.fixture
def url(sqlite_url: str) -> str:
    """Name a migrated database."""
    assert run("migrate", "--url", sqlite_url).exit_code == 0
    return sqlite_url


CHANGES = [
    ("retry", TaskStatus.FAILED, "READY"),
    ("retry", TaskStatus.LOST, "READY"),
    ("discard", TaskStatus.READY, "DISCARDED"),
    ("discard", TaskStatus.WAITING, "DISCARDED"),
    ("discard", TaskStatus.FAILED, "DISCARDED"),
    ("cancel", TaskStatus.READY, "DISCARDED"),
    ("cancel", TaskStatus.RUNNING, "RUNNING"),
]
REFUSALS = [
    ("retry", TaskStatus.READY),
    ("retry", TaskStatus.RUNNING),
    ("retry", TaskStatus.DISCARDED),
    ("discard", TaskStatus.RUNNING),
    ("discard", TaskStatus.SUCCESSFUL),
    ("cancel", TaskStatus.SUCCESSFUL),
    ("cancel", TaskStatus.FAILED),
]


@pytest.mark.parametrize(("command", "before", "after"), CHANGES)
def test_a_change_exits_0_and_names_the_task(url: str, command: str, before: TaskStatus, after: str) -> None:
    record = store(url, make.BUILDERS[before])
    result = run(command, record.id, "--url", url)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(record.id)
    assert statuses(url, [record.id]) == {after}


@pytest.mark.parametrize(("command", "status"), REFUSALS)
def test_a_change_that_changes_nothing_exits_1_and_names_the_status(url: str, command: str, status: TaskStatus) -> None:
    record = store(url, make.BUILDERS[status])
    result = run(command, record.id, "--url", url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{record.id} unchanged: it is {status}" in result.stderr
    assert statuses(url, [record.id]) == {status}


def test_retry_takes_discarded_tasks_on_request(url: str) -> None:
    record = store(url, make.discarded)
    assert "--include-discarded" in run("retry", record.id, "--url", url).stderr
    assert run("retry", record.id, "--include-discarded", "--url", url).exit_code == 0
    assert statuses(url, [record.id]) == {"READY"}


def test_of_many_those_that_can_change_do_and_the_others_are_told(url: str) -> None:
    failed, ready = store(url, make.failed), store(url, lambda conn: make.ready(conn, queue_name="b"))
    found = document("retry", failed.id, ready.id, MISSING, "nonsense", failed.id, "--url", url)
    assert found["changed"] == [failed.id]
    assert [(skipped["id"], skipped["status"]) for skipped in found["skipped"]] == [
        (ready.id, "READY"), (MISSING, None), ("nonsense", None),
    ]  # fmt: skip


def test_a_second_cancel_of_a_running_task_says_that_it_was_asked(url: str) -> None:
    record = store(url, make.running)
    assert run("cancel", record.id, "--url", url).exit_code == 0
    result = run("cancel", record.id, "--url", url)
    assert result.exit_code == 1
    assert "asked to stop already" in result.stderr


@pytest.mark.parametrize("command", ["retry", "discard", "cancel", "show", "pause", "resume"])
def test_without_an_argument_it_is_wrong_usage(url: str, command: str) -> None:
    assert run(command, "--url", url).exit_code == 2


def test_pause_and_resume_say_what_they_changed(url: str) -> None:
    assert run("pause", "mail", "--url", url).stdout == "mail paused\n"
    again = run("pause", "mail", "--url", url)
    assert (again.exit_code, again.stderr) == (1, "mail unchanged: it is paused already\n")
    assert run("resume", "mail", "--url", url).stdout == "mail resumed\n"
    again = run("resume", "mail", "--url", url)
    assert (again.exit_code, again.stderr) == (1, "mail unchanged: it is not paused\n")


def test_pause_and_resume_as_json(url: str) -> None:
    assert document("pause", "a", "b", "--url", url) == {"paused": ["a", "b"], "unchanged": []}
    assert document("pause", "a", "c", "--url", url) == {"paused": ["c"], "unchanged": ["a"]}
    assert document("resume", "a", "x", "--url", url) == {"resumed": ["a"], "unchanged": ["x"]}
