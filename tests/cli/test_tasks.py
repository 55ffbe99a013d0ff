"""`oxpull status`, `health`, `tasks` and `show`: what is stored, for people and as JSON."""

import pytest

from oxpull_async.cli.report import COUNTS
from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.store.operate import cancel
from tests.cli.support import document, run, store
from tests.fixtures import make


@pytest.fixture
def url(sqlite_url: str) -> str:
    """Name a migrated database."""
    assert run("migrate", "--url", sqlite_url).exit_code == 0
    return sqlite_url


async def some_of_each(conn: Connection) -> list[TaskRecord]:
    """Store a task in every status, one of them in another queue."""
    records = [await builder(conn) for builder in reversed(make.BUILDERS.values())]
    return [*records, await make.ready(conn, queue_name="mail", task_path="shop.tasks.write")]


def test_status_counts_queues_and_lists_workers(url: str) -> None:
    store(url, some_of_each)
    lines = run("status", "--url", url).stdout.splitlines()
    assert lines[0].split() == ["queue", *COUNTS, "paused"]
    assert lines[1].split() == ["default", *"1111111"]
    assert lines[2].split() == ["mail", *"1000000"]
    assert "host.test" in lines[-1]
    assert "alive, lease" in lines[-1]


def test_status_as_json_has_queues_and_workers(url: str) -> None:
    store(url, some_of_each)
    run("pause", "mail", "idle", "--url", url)
    found = document("status", "--url", url)
    assert [(queue["queue_name"], queue["paused"]) for queue in found["queues"]] == [
        ("default", False), ("idle", True), ("mail", True),
    ]  # fmt: skip
    assert found["queues"][0]["lost"] == 1
    assert {worker["hostname"] for worker in found["workers"]} == {"host.test"}
    assert all(worker["alive"] for worker in found["workers"])


def test_status_of_an_empty_database_says_so(url: str) -> None:
    assert run("status", "--url", url).stdout == "no tasks\n\nno workers\n"


def test_health_is_0_when_nothing_is_wrong(url: str) -> None:
    result = run("health", "--url", url)
    assert (result.exit_code, result.stdout) == (0, "healthy: 0 workers alive, nothing is due\n")
    assert document("health", "--url", url)["healthy"] is True


def test_health_is_1_and_says_why_when_a_task_has_no_worker(url: str) -> None:
    store(url, make.ready)
    result = run("health", "--url", url)
    assert result.exit_code == 1
    assert "no worker is alive" in result.stdout
    found = document("health", "--url", url)
    assert (found["healthy"], len(found["problems"])) == (False, 1)


def test_tasks_are_listed_newest_first(url: str) -> None:
    old, new = store(url, make.successful), store(url, make.failed)
    lines = run("tasks", "--url", url).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["id", new.id, old.id]
    assert lines[1].endswith("builtins.ValueError")


def test_tasks_are_filtered(url: str) -> None:
    *_, other = store(url, some_of_each)
    for filters, count in (
        (["--status", "failed"], 1), (["--queue", "mail"], 1), (["--path", "shop.tasks.write"], 1),
        (["--queue", "mail", "--status", "LOST"], 0), (["--limit", "3"], 3), ([], 8),
    ):  # fmt: skip
        assert len(document("tasks", *filters, "--url", url)["tasks"]) == count
    assert document("tasks", "--queue", "mail", "--url", url)["tasks"][0]["id"] == other.id


def test_no_matching_task_is_said(url: str) -> None:
    assert run("tasks", "--url", url).stdout == "no task matches\n"
    assert document("tasks", "--url", url) == {"tasks": []}


def test_show_prints_everything_with_every_traceback(url: str) -> None:
    record = store(url, lambda conn: make.failed(conn, args='[1, "é"]', kwargs='{"a": null}', timeout=1.5))
    said = run("show", record.id, "--url", url).stdout
    for text in (record.id, make.PATH, "FAILED", '[1, "é"]', '{"a": null}', "1 of 3", "1.5 s", *record.worker_ids):
        assert text in said
    assert "attempt 1 failed" in said
    assert "Traceback (most recent call last):\nValueError: no" in said
    assert "return value" not in said


def test_show_prints_a_return_value_also_null(url: str) -> None:
    record = store(url, lambda conn: make.successful(conn, "null"))
    assert "return value  null" in run("show", record.id, "--url", url).stdout


def test_show_as_json_has_the_arguments_as_json(url: str) -> None:
    record = store(url, lambda conn: make.failed(conn, args='[{"a": [1]}]'))
    found = document("show", record.id, "--url", url)
    assert (found["args"], found["status"], found["is_finished"]) == ([{"a": [1]}], "FAILED", True)
    assert found["errors"][0]["exception_class_path"] == "builtins.ValueError"
    assert found["enqueued_at"].endswith("+00:00")


def test_show_says_of_a_running_task_only_that_it_was_asked_to_stop(url: str) -> None:
    async def ended(conn: Connection) -> TaskRecord:
        task = await make.running(conn, queue_name="late")
        assert await cancel(conn, [task.id]) == 1
        assert await make.settled(conn, task, Succeeded("null")) is TaskStatus.SUCCESSFUL
        return await make.record(conn, task.id)

    record = store(url, make.running)
    assert run("cancel", record.id, "--url", url).exit_code == 0
    assert "RUNNING, asked to stop\n" in run("show", record.id, "--url", url).stdout
    assert "SUCCESSFUL\n" in run("show", store(url, ended).id, "--url", url).stdout


@pytest.mark.parametrize("id_", ["nonsense", "01a227dd-088b-70c1-9dae-edcf96f9f75d"])
def test_show_of_a_missing_task_is_an_error(url: str, id_: str) -> None:
    result = run("show", id_, "--url", url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert id_ in result.stderr


def test_stored_text_cannot_steer_the_terminal(url: str) -> None:
    record = store(url, lambda conn: make.ready(conn, args='["\\u001b[2J\\u009b"]', queue_name="q\x1b[31m"))
    for command in (("status",), ("tasks",), ("show", record.id)):
        said = run(*command, "--url", url).stdout
        assert "\x1b" not in said
        assert "\x9b" not in said
