"""`oxpull prune`: removes what is old enough, and nothing else."""

import pytest

from oxpull_async.domain.record import TaskRecord
from tests.cli.support import document, run, store
from tests.fixtures import make


@pytest.fixture
def tasks(sqlite_url: str) -> list[TaskRecord]:
    """Store one task in each status."""
    run("migrate", "--url", sqlite_url)
    return [store(sqlite_url, builder) for builder in reversed(make.BUILDERS.values())]


def left(url: str) -> int:
    return len(document("tasks", "--url", url)["tasks"])


def test_young_tasks_stay(sqlite_url: str, tasks: list[TaskRecord]) -> None:
    result = run("prune", "--url", sqlite_url)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("removed 0 of ")
    assert left(sqlite_url) == len(tasks)


def test_old_successful_and_discarded_tasks_go(sqlite_url: str, tasks: list[TaskRecord]) -> None:
    assert document("prune", "--older-than", "0s", "--url", sqlite_url)["removed"] == 2
    assert left(sqlite_url) == len(tasks) - 2


def test_the_statuses_may_be_chosen(sqlite_url: str, tasks: list[TaskRecord]) -> None:
    assert document("prune", "--older-than", "0", "--status", "failed,lost", "--url", sqlite_url)["removed"] == 2


def test_a_dry_run_counts_and_removes_nothing(sqlite_url: str, tasks: list[TaskRecord]) -> None:
    result = run("prune", "--older-than", "0", "--dry-run", "--url", sqlite_url)
    assert result.stdout.startswith("would remove 2 of ")
    assert left(sqlite_url) == len(tasks)


def test_small_batches_remove_the_same(sqlite_url: str, tasks: list[TaskRecord]) -> None:
    found = document("prune", "--older-than", "0", "--batch-size", "1", "--url", sqlite_url)
    assert (found["removed"], found["dry_run"]) == (2, False)


def test_tasks_that_have_not_ended_cannot_be_pruned(sqlite_url: str, tasks: list[TaskRecord]) -> None:
    result = run("prune", "--status", "READY", "--url", sqlite_url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "'READY' are not pruned" in result.stderr
