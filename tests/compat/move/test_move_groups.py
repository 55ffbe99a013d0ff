"""`oxpull_move` brings batches over whole, under their ids, and workflows too."""

from collections.abc import Callable
from uuid import UUID

import pytest

from compat_sync import batches, workflows
from compat_sync.models import OxpullBatch, OxpullBatchMember, OxpullTask, OxpullWorkflowCounts, OxpullWorkflowNode
from compat_sync.shim import run_blocking
from compat_sync.testing import run_tasks
from tests.compat.conftest import Kind
from tests.compat.move import shop
from tests.compat.move.project import OldProject, oxpull_move


def run_all() -> None:
    """Run tasks until none is left, callbacks included."""
    while run_tasks():
        pass


def test_a_sealed_batch_comes_over_with_its_members_and_completes_here(old: OldProject) -> None:
    ids = old.run("enqueue_batch", True)
    printed = oxpull_move()
    assert printed == "Moved 2 tasks, 1 with a unique key.\nMoved 1 result.\nMoved 1 batch.\n"
    assert (old.rows(), old.open_groups(), old.locks()) == ({}, [], [])
    batch = batches.get(ids["batch"])
    progress = batch.progress()
    assert (batch.name, batch.status, progress.total, progress.pending) == ("import", "SEALED", 4, 2)
    assert (progress.succeeded, progress.unattributed) == (1, 1)
    assert OxpullTask.objects.get(pk=ids["ready"]).batch_id == UUID(ids["batch"])
    run_all()
    assert batch.status == "COMPLETE"
    assert sorted(shop.RAN) == [("charge", 42), ("complete", 0), ("send_invoice", 43)]


def test_an_open_batch_takes_more_members_here(old: OldProject) -> None:
    ids = old.run("enqueue_batch", False)
    oxpull_move("--batch-size", "1")
    batch = batches.get(ids["batch"])
    assert (batch.status, batch.progress().total) == ("OPEN", 4)
    assert OxpullBatch.objects.get(pk=batch.id).created_at is not None
    batch.add(shop.send_invoice, 47)
    batch.seal()
    run_all()
    assert (batch.status, batch.progress().succeeded) == ("COMPLETE", 4)


def test_a_batch_of_which_a_task_runs_stays_whole_until_it_has_ended(old: OldProject) -> None:
    batch_id = old.run("enqueue_running_batch")
    printed = oxpull_move()
    assert "Left 1 batch: its task " in printed
    assert "RUNNING: a worker of django-ox has it" in printed
    assert f"  {batch_id} 'busy'\n" in printed
    assert len(old.rows()) == 2
    assert not OxpullBatch.objects.exists()
    assert not OxpullTask.objects.exists()


def test_batches_that_share_a_task_come_over_together(old: OldProject) -> None:
    ids = old.run("enqueue_two_batches")
    assert oxpull_move().endswith("Moved 2 batches.\n")
    assert OxpullBatchMember.objects.filter(task_id=ids["shared"]).count() == 2
    run_all()
    assert {batches.get(ids[name]).status for name in ("first", "second")} == {"COMPLETE"}
    assert {batches.get(ids[name]).progress().succeeded for name in ("first", "second")} == {1}


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_batch_a_key_of_which_is_held_here_stays_whole(old: OldProject, kind: Kind) -> None:
    ids = old.run("enqueue_batch", True)
    ours = shop.charge.enqueue(42)
    printed = oxpull_move()
    assert f"Left 1 batch: its task {ids['unique']} stays, since a pending task here holds its unique key" in printed
    assert len(old.rows()) == 3
    assert [str(task.id) for task in OxpullTask.objects.all()] == [ours.id]


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_batch_whose_values_the_database_refuses_stays_whole(old: OldProject, kind: Kind) -> None:
    old.run("enqueue_batch", True)
    run_blocking(old.conn.run_script(
        "CREATE TRIGGER no_batch BEFORE INSERT ON oxpull_batch_member BEGIN SELECT RAISE(ABORT, 'no member'); END"
    ))  # fmt: skip
    printed = oxpull_move()
    run_blocking(old.conn.run_script("DROP TRIGGER no_batch"))
    assert "Left 1 batch: the database refuses a value of it" in printed
    assert (len(old.rows()), OxpullTask.objects.count()) == (3, 0)
    assert "Moved 1 batch." in oxpull_move()


@pytest.mark.parametrize("change", ["gone.tasks.note", "tests.compat.move.shop.charge"])
@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_batch_whose_callback_cannot_be_stored_stays_and_is_named(
    old: OldProject, kind: Kind, change: str, set_callback: Callable[[str], None]
) -> None:
    old.run("enqueue_batch", True)
    set_callback(change)
    printed = oxpull_move()
    assert "Left 1 batch: on_complete: " in printed
    assert len(old.rows()) == 3
    assert not OxpullBatch.objects.exists()
    set_callback("tests.compat.move.shop.note")
    assert "Moved 1 batch." in oxpull_move()


def test_a_dry_run_counts_a_batch_once_and_writes_nothing(old: OldProject) -> None:
    old.run("enqueue_batch", True)
    printed = oxpull_move("--dry-run")
    assert printed == "Would move 2 tasks, 1 with a unique key.\nWould move 1 result.\nWould move 1 batch.\n"
    assert len(old.rows()) == 3
    assert old.open_groups() == ["import"]
    assert not OxpullBatch.objects.exists()


def statuses(ids: dict[str, str]) -> dict[str, str]:
    """Return how the tasks of nodes stand here."""
    found = {str(task.id): task.status for task in OxpullTask.objects.all()}
    return {name: found[id_] for name, id_ in ids.items() if id_ in found}


def test_a_sealed_workflow_comes_over_and_what_ended_there_counts_here(old: OldProject) -> None:
    ids = old.run("enqueue_workflow", True)
    printed = oxpull_move("--batch-size", "2")
    assert printed == "Moved 3 tasks, 0 with a unique key.\nMoved 1 result.\nMoved 1 workflow.\n"
    assert (old.rows(), old.open_groups()) == ({}, [])
    assert statuses(ids) == {
        "failed": "FAILED", "after failed": "DISCARDED", "after pruned": "READY", "last": "WAITING",
    }  # fmt: skip
    nodes = {node.name: node for node in OxpullWorkflowNode.objects.filter(workflow_id=ids["workflow"])}
    assert nodes.keys() == {"failed", "after failed", "after pruned", "last"}
    assert nodes["after failed"].cascaded
    run_all()
    counts = OxpullWorkflowCounts.objects.get(pk=ids["workflow"])
    assert (counts.status, counts.succeeded, counts.failed, counts.unattributed) == ("COMPLETE", 2, 1, 1)
    assert shop.RAN == [("send_invoice", 61), ("send_invoice", 63), ("complete", 0)]


def test_what_the_old_app_discarded_behind_a_failed_node_can_be_revived_here(old: OldProject) -> None:
    ids = old.run("enqueue_workflow", True)
    assert old.run("discard_cones") > 0
    assert old.rows()[ids["after failed"]] == "DISCARDED"
    oxpull_move()
    flow = workflows.get(ids["workflow"])
    assert OxpullWorkflowNode.objects.get(pk=ids["after failed"]).cascaded
    assert flow.retry_from("failed") == 2
    assert statuses(ids)["after failed"] == "WAITING"
    run_all()
    assert (flow.status, statuses(ids)["after failed"]) == ("COMPLETE", "DISCARDED")


def test_an_open_workflow_waits_for_its_seal_here(old: OldProject) -> None:
    ids = old.run("enqueue_workflow", False)
    oxpull_move()
    assert statuses(ids)["after failed"] == "WAITING"
    assert OxpullWorkflowCounts.objects.get(pk=ids["workflow"]).status == "OPEN"


def test_a_workflow_of_which_a_node_runs_stays_whole(old: OldProject) -> None:
    workflow_id = old.run("enqueue_running_workflow")
    printed = oxpull_move()
    assert "Left 1 workflow: its task " in printed
    assert f"  {workflow_id} 'busy'\n" in printed
    assert sorted(old.rows().values()) == ["RUNNING", "WAITING"]
    assert not OxpullTask.objects.exists()


def test_a_dry_run_counts_a_workflow_once_and_writes_nothing(old: OldProject) -> None:
    old.run("enqueue_workflow", True)
    printed = oxpull_move("--dry-run")
    assert printed == "Would move 3 tasks, 0 with a unique key.\nWould move 1 result.\nWould move 1 workflow.\n"
    assert (len(old.rows()), old.open_groups()) == (4, ["report"])
    assert not OxpullTask.objects.exists()
