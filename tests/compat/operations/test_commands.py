"""The commands of operators: what they print, with which exit code, and what they refuse."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections
from django.test import override_settings

from compat_sync import actions
from compat_sync.connection import DjangoConnection
from compat_sync.models import OxpullTask
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskStatus
from tests.compat import shop
from tests.compat.operations.rows import one_of_each
from tests.fixtures import make


def run(command: str, *arguments: str, **options: Any) -> str:
    written = StringIO()
    call_command(command, *arguments, stdout=written, **options)
    return written.getvalue()


def document(command: str, *arguments: str) -> Any:
    return json.loads(run(command, *arguments, "--json"))


def health(*arguments: str) -> tuple[int, str]:
    written = StringIO()
    try:
        call_command("oxpull_health", *arguments, stdout=written)
    except SystemExit as end:
        return int(end.code or 0), written.getvalue()
    return 0, written.getvalue()


def test_prune_leaves_what_is_young(site: str) -> None:
    one_of_each(site)
    assert run("oxpull_prune") == "removed 0 of 7 tasks looked at\n"


def test_prune_removes_what_is_old_enough_and_ended_well(site: str) -> None:
    one_of_each(site)
    assert document("oxpull_prune", "--older-than", "0s") == {
        "scanned": 7, "removed": 2, "dry_run": False, "keys": 0, "locks": 0, "ticks": 0, "windows": 0,
        "batches": 0, "workflows": 0,
    }  # fmt: skip
    kept = {status for (status,) in OxpullTask.objects.values_list("status")}
    assert kept == set(TaskStatus) - {TaskStatus.SUCCESSFUL, TaskStatus.DISCARDED}


def test_prune_takes_chosen_statuses_in_small_batches(site: str) -> None:
    one_of_each(site)
    options = ("--older-than", "0", "--status", "failed,lost", "--batch-size", "1")
    assert run("oxpull_prune", *options, "--dry-run") == "would remove 2 of 7 tasks looked at\n"
    assert run("oxpull_prune", *options) == "removed 2 of 7 tasks looked at\n"
    assert run("oxpull_prune", older_than=0, status="SUCCESSFUL") == "removed 1 of 5 tasks looked at\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--older-than", "soon"), "'soon' is no duration: write seconds, or 90s, 15m, 12h, 7d, 2w"),
        (("--older-than=-1",), "'-1' is no duration"),
        (("--status", "READY"), "tasks with status 'READY' are not pruned: choose among SUCCESSFUL"),
        (("--status", ""), "give at least one name"),
        (("--batch-size", "0"), "batch_size=0 must be a whole number of rows, at least 1"),
        (("--batch-size", "many"), "invalid int value: 'many'"),
        (("--backend", "nowhere"), "nowhere"),
    ],
)
def test_prune_refuses_bad_values_and_removes_nothing(site: str, arguments: tuple[str, ...], sentence: str) -> None:
    one_of_each(site)
    with pytest.raises(CommandError) as refused:
        run("oxpull_prune", *arguments)
    assert sentence in str(refused.value)
    assert OxpullTask.objects.count() == 7


def test_stats_counts_every_queue_by_status(site: str) -> None:
    assert run("oxpull_stats") == "no tasks\n"
    for number in range(3):
        shop.send_invoice.enqueue(number)
    actions.discard(shop.remind.enqueue(1).id)
    actions.pause("empty")
    found = {row.pop("queue_name"): row for row in document("oxpull_stats")["queues"]}
    assert {name: {k: v for k, v in row.items() if v} for name, row in found.items()} == {
        "default": {"ready": 3},
        "empty": {"paused": True},
        "mail": {"discarded": 1},
    }
    head, *lines = run("oxpull_stats").splitlines()
    assert head.split()[:3] == ["queue", "ready", "waiting"]
    assert [line.split()[0] for line in lines] == ["default", "empty", "mail"]


def test_health_is_good_where_nothing_is_due(site: str) -> None:
    assert health() == (0, "healthy: 0 workers alive, nothing is due\n")


def test_health_names_what_is_wrong_and_exits_with_one(site: str) -> None:
    shop.send_invoice.enqueue(1)
    code, text = health()
    assert code == 1
    assert "no worker is alive, and a task has been due for" in text
    assert "start `manage.py oxpull_worker`" in text
    code, text = health("--json")
    found = json.loads(text)
    assert (code, found["healthy"], len(found["problems"]), found["workers"]) == (1, False, 1, [])


def test_health_tells_paused_queues_and_living_workers(site: str) -> None:
    run_blocking(make.worker(DjangoConnection(site)))
    actions.pause("mail")
    assert health() == (0, "healthy: 1 worker alive, nothing is due\npaused: mail\n")


def test_health_keeps_a_monitor_s_bounds(site: str) -> None:
    conn = DjangoConnection(site)
    run_blocking(make.worker(conn))
    for number in range(3):
        shop.send_invoice.enqueue(number)
    assert health("--max-backlog", "3", "--max-age", "1h")[0] == 0
    code, text = health("--max-backlog", "2")
    assert (code, text) == (1, "queue 'default' has more than 2 due tasks (--max-backlog)\n")
    assert health("--max-backlog", "0", "--queue", "mail")[0] == 0
    with connections[site].cursor() as cursor:
        cursor.execute("UPDATE oxpull_task SET available_at = '2001-01-01 00:00:00.000000'")
    code, text = health("--max-age", "1h")
    assert code == 1
    assert "a task of queue 'default' has been due for" in text
    assert "--max-age allows 3600 s" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--max-age", "old"), "--max-age: 'old' is no duration"),
        (("--queue", "mail"), "give one of these as well"),
        (("--max-backlog", "-1"), "--max-backlog is -1, and a number of tasks is 0 or more"),
        (("--backend", "nowhere"), "nowhere"),
    ],
)
def test_health_refuses_bad_values(site: str, arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError) as refused:
        health(*arguments)
    assert sentence in str(refused.value)


def test_a_monitor_cannot_watch_a_queue_that_is_not_declared(site: str) -> None:
    declared = {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": ["default", "mail"]}
    with override_settings(TASKS={"default": declared}):
        assert health("--queue", "mail", "--max-age", "1h")[0] == 0
        with pytest.raises(CommandError, match=r"--queue is 'mial'.*there is 'default', 'mail'"):
            health("--queue", "mial", "--max-age", "1h")


@pytest.mark.parametrize("command", ["oxpull_health", "oxpull_stats", "oxpull_prune"])
def test_a_database_without_tables_is_named_with_the_way_out(site: str, command: str) -> None:
    with connections[site].cursor() as cursor:
        cursor.execute("ALTER TABLE oxpull_task RENAME TO oxpull_gone")
    try:
        with pytest.raises(CommandError, match=rf"run `manage\.py migrate --database {site}`"):
            run(command)
    finally:
        with connections[site].cursor() as cursor:
            cursor.execute("ALTER TABLE oxpull_gone RENAME TO oxpull_task")
