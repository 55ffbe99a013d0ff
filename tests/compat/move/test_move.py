"""`oxpull_move` brings over what waits, and leaves what it cannot."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.tasks import default_task_backend
from django.test import override_settings

from compat_sync.results import TaskResult
from compat_sync.shim import run_blocking
from oxpull_async import Oxpull, TaskStatus, Worker
from oxpull_async.domain.keys import lock_key, unique_key
from tests.compat.conftest import Kind
from tests.compat.move import shop
from tests.compat.move.project import NEW_TASKS, OldProject, oxpull_move
from tests.compat.projects import Project

VECTORS = json.loads(Path(__file__).parents[2].joinpath("vectors", "unique_keys.json").read_text())


def result(id_: str) -> TaskResult:
    found = default_task_backend.get_result(id_)
    assert isinstance(found, TaskResult)
    return found


async def run_everything(url: str) -> None:
    """Run what is due, by a worker that knows the same tasks."""
    ox = Oxpull(url, queues=["default", "mail"])
    for task in (shop.send_invoice, shop.charge, shop.fail):
        ox.task(task.func)
    async with ox:
        await Worker(ox, burst=True).run()


def test_what_waits_comes_over_with_its_id_and_all_that_was_asked_for_it(old: OldProject) -> None:
    ids = old.run("enqueue_waiting")
    assert oxpull_move() == "Moved 4 tasks, 1 with a unique key.\n"
    assert old.rows() == {}
    assert old.locks() == []
    moved = {name: result(id_) for name, id_ in ids.items()}
    assert [moved[name].args for name in ("plain", "mail", "deferred", "unique")] == [[1], [2], [3], [4]]
    assert moved["mail"].kwargs == {"copy": True}
    assert (moved["mail"].task.queue_name, moved["mail"].task.priority) == ("mail", 7)
    assert str(moved["deferred"].run_after) == "2999-01-02 03:04:05.678901+00:00"
    assert {found.stored_status for found in moved.values()} == {TaskStatus.READY}
    assert {found.max_attempts for found in moved.values()} == {3}


def test_our_worker_runs_what_came_over_and_leaves_what_is_not_due(
    old: OldProject, kind: Kind, old_database: Callable[[Kind], tuple[Project, str]]
) -> None:
    ids = old.run("enqueue_waiting")
    oxpull_move()
    asyncio.run(run_everything(old_database(kind)[1]))
    assert sorted(shop.RAN) == [("charge", 4), ("send_invoice", 1), ("send_invoice", 2)]
    assert result(ids["mail"]).return_value == "invoice 2 (copy)"
    assert result(ids["deferred"]).stored_status is TaskStatus.READY
    assert result(ids["plain"]).attempts == 1


def test_attempts_failures_and_the_time_of_the_next_one_are_kept(old: OldProject) -> None:
    id_ = old.run("enqueue_failed_once")
    oxpull_move()
    moved = result(id_)
    [error] = moved.errors
    assert error.exception_class_path == "builtins.ValueError"
    assert "out of stock" in error.traceback
    assert (moved.attempts, moved.record.attempts, moved.record.epoch) == (1, 1, 1)
    assert moved.run_after is not None
    assert moved.last_attempted_at is not None
    assert moved.run_after > moved.last_attempted_at


def test_timeout_and_running_lock_are_those_of_the_task_as_it_is_declared_now(old: OldProject) -> None:
    id_ = old.run("enqueue_many_plain", 1)[0]
    path = "tests.compat.move.shop.send_invoice"
    options = {"TASK_TIMEOUT": 30, "TASK_OPTIONS": {path: {"running_lock": True}}}
    with override_settings(TASKS={"default": {**NEW_TASKS["default"], "OPTIONS": options}}):
        oxpull_move()
    assert old.tasks()[id_].timeout == 30
    assert old.lock_keys() == [lock_key("default", path, [[0], {}])]


def test_a_unique_key_is_held_by_the_task_that_came_over(old: OldProject) -> None:
    id_ = old.run("enqueue_waiting")["unique"]
    oxpull_move()
    again = shop.charge.enqueue(4)
    assert again.id == id_
    assert not again.created  # type: ignore[attr-defined]


def test_keys_are_the_same_in_both(old: OldProject) -> None:
    calls = [_call(vector) for vector in VECTORS["vectors"]]
    assert old.run("keys", calls) == [unique_key(*call) for call in calls]


def _call(vector: dict[str, Any]) -> list[Any]:
    return [vector[name] for name in ("backend_alias", "task_path", "queue_name", "args", "kwargs")]


def test_a_key_that_a_pending_task_holds_here_keeps_the_old_task_back_until_it_is_free(old: OldProject) -> None:
    id_ = old.run("enqueue_waiting")["unique"]
    ours = shop.charge.enqueue(4)
    assert "Left 1 task: a pending task here holds its unique key" in oxpull_move()
    assert list(old.rows()) == [id_]
    run_blocking(old.conn.run_script(f"DELETE FROM oxpull_task WHERE id = '{ours.id.replace('-', '')}'"))
    assert oxpull_move() == "Moved 1 task, 1 with a unique key.\n"
    assert shop.charge.enqueue(4).id == id_


def test_a_task_that_an_old_worker_has_stays_with_it_and_keeps_its_lock(old: OldProject) -> None:
    id_ = old.run("enqueue_running")
    printed = oxpull_move()
    assert "Left 1 task: RUNNING" in printed
    assert id_ in printed
    assert old.rows() == {id_: "RUNNING"}
    assert old.locks() == [id_]
    assert old.tasks() == {}


def test_tasks_of_the_old_app_itself_stay_and_are_named(old: OldProject) -> None:
    ids = old.run("enqueue_bound")
    printed = oxpull_move()
    assert "Moved 3 tasks, 0 with a unique key.\nMoved 1 batch.\nMoved 1 workflow.\n" in printed
    assert "it is upkeep of the old apps" in printed
    assert old.rows().keys() == {ids["upkeep"]}


def test_tasks_of_a_batch_and_a_workflow_that_stay_are_named_too(
    old: OldProject, set_callback: Callable[[str], None]
) -> None:
    ids = old.run("enqueue_bound")
    set_callback("gone.tasks.note")
    printed = oxpull_move()
    assert "the batch 'import' of the oxpull app counts it" in printed
    assert "the workflow 'report' of the oxpull app counts it" in printed
    assert "Left 1 task: WAITING" in printed
    assert all(id_ in printed for id_ in ids.values())
    assert old.rows().keys() == set(ids.values())


def test_the_log_of_a_schedule_lets_go_of_a_task_that_came_over(old: OldProject) -> None:
    id_ = old.run("enqueue_scheduled")
    oxpull_move()
    assert list(old.tasks()) == [id_]
    assert old.ticks() == [None]


def test_results_stay_unless_asked_for(old: OldProject) -> None:
    ids = old.run("enqueue_ended")
    printed = oxpull_move()
    assert printed.startswith("Moved 0 tasks, 0 with a unique key.\n")
    assert "Left 1 unique lock whose task has ended" in printed
    assert old.rows().keys() == set(ids.values())


def test_results_come_over_when_asked_for_and_are_read_by_their_ids(old: OldProject) -> None:
    ids = old.run("enqueue_ended")
    assert "Moved 3 results.\n" in oxpull_move("--with-results")
    assert result(ids["successful"]).return_value == "invoice 8"
    assert result(ids["failed"]).stored_status is TaskStatus.FAILED
    assert result(ids["failed"]).errors[0].exception_class_path == "builtins.ValueError"
    assert old.rows() == {}
    assert shop.charge.enqueue(9).created  # type: ignore[attr-defined]


def test_a_lost_task_stays_because_its_worker_may_still_report(old: OldProject) -> None:
    id_ = old.run("enqueue_lost")
    assert "Left 1 task: LOST" in oxpull_move("--with-results")
    assert old.rows() == {id_: "LOST"}


def test_a_dry_run_counts_the_same_and_writes_nothing(old: OldProject) -> None:
    running = old.run("enqueue_running")
    ids = old.run("enqueue_waiting")
    printed = oxpull_move("--dry-run")
    assert printed.startswith("Would move 4 tasks, 1 with a unique key.\nLeft 1 task: RUNNING")
    assert old.rows() == {**dict.fromkeys(ids.values(), "READY"), running: "RUNNING"}
    assert sorted(old.locks()) == sorted([ids["unique"], running])
    assert old.tasks() == {}
    assert shop.charge.enqueue(4).id != ids["unique"]


def test_repeating_the_move_moves_nothing_twice_and_picks_up_what_is_new(old: OldProject) -> None:
    old.run("enqueue_many_plain", 25)
    assert oxpull_move("--batch-size", "10").startswith("Moved 25 tasks")
    assert oxpull_move("--batch-size", "10").startswith("Moved 0 tasks")
    more = old.run("enqueue_many_plain", 3)
    assert oxpull_move().startswith("Moved 3 tasks")
    assert len(old.tasks()) == 28
    assert old.tasks().keys() >= set(more)
