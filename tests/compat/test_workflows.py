"""Workflows of Django's tasks: in the caller's transaction, sync and async, followed by their callbacks."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist
from django.db import transaction
from django.tasks import TaskResultStatus, default_task_backend, signals
from django.tasks.exceptions import TaskException
from django.test import override_settings

from compat_sync import workflows
from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import (
    AlreadyEnqueued,
    InvalidTask,
    UnknownWorkflowNode,
    WorkflowDoesNotExist,
    WorkflowNodeExists,
    WorkflowSealed,
)
from compat_sync.models import (
    OxpullTask,
    OxpullWorkflow,
    OxpullWorkflowCounts,
    OxpullWorkflowEdge,
    OxpullWorkflowNode,
)
from compat_sync.shim import run_blocking
from compat_sync.testing import run_tasks
from compat_sync.workflows import Node
from oxpull_async import Unique
from oxpull_async.errors import WorkflowSealed as CoreWorkflowSealed
from tests.compat import batched, flowing, shop
from tests.compat.flowing import FAILING, TOLD
from tests.fixtures import raw

OURS = "compat_sync.backend.OxpullBackend"


@pytest.fixture(autouse=True)
def _nothing_told() -> Iterator[None]:
    TOLD.clear()
    yield
    FAILING.clear()


def run_all() -> None:
    """Run tasks until none is left, callbacks included."""
    while run_tasks():
        pass


def ran() -> list[str]:
    """List the nodes that ran, in order."""
    return [words[1] for words in TOLD if words[0] == "ran"]


def statuses(flow: workflows.Workflow) -> dict[str, str]:
    """Return how the tasks of the nodes stand."""
    found = {task.id: task.status for task in OxpullTask.objects.all()}
    return {name: found[id_] for name, id_ in flow.node_ids().items()}


def value(flow: workflows.Workflow, name: str) -> Any:
    """Return what a node's task returned."""
    return default_task_backend.get_result(str(flow.node_ids()[name])).return_value


def diamond(flow: workflows.Workflow) -> None:
    """Add a root, two nodes behind it, and one behind both."""
    flow.add("root", flowing.step, "root")
    for side in ("left", "right"):
        flow.add(side, flowing.step, side, depends_on="root")
    flow.add("end", flowing.join, depends_on=["left", "right"])


def test_a_block_stores_a_sealed_workflow_that_runs_in_its_order(site: str) -> None:
    with workflows.workflow(
        "etl",
        on_complete=flowing.told,
        on_complete_args=["complete"],
        on_success="tests.compat.flowing.told",
        on_success_args=("success",),
        on_failure=flowing.told,
        on_failure_args=["failure"],
    ) as flow:
        diamond(flow)
    progress = flow.progress()
    assert (progress.total, progress.pending, progress.blocked, flow.status) == (4, 4, 3, "SEALED")
    run_all()
    assert (ran()[0], sorted(ran())) == ("root", ["left", "right", "root"])
    assert value(flow, "end") == {"left": ["SUCCESSFUL", "LEFT"], "right": ["SUCCESSFUL", "RIGHT"]}
    progress = workflows.get(str(flow.id)).progress()
    assert (progress.succeeded, progress.failed, progress.unattributed, progress.finished) == (4, 0, 0, 4)
    assert flow.status == "COMPLETE"
    assert {words for words in TOLD if words[0] == "told"} == {("told", "complete"), ("told", "success")}


def test_a_coroutine_reads_its_upstreams_too_and_other_tasks_have_none(site: str) -> None:
    with workflows.workflow("async") as flow:
        flow.add("first", flowing.step, "first")
        flow.add("last", flowing.ajoin, depends_on="first")
    alone = flowing.join.enqueue()
    run_all()
    assert value(flow, "last") == {"first": ["SUCCESSFUL", "FIRST"]}
    assert default_task_backend.get_result(alone.id).return_value == {}


def test_what_depends_on_a_failed_node_is_discarded_unless_it_is_to_run(site: str) -> None:
    FAILING.add("root")
    with workflows.workflow("broken", on_failure=flowing.told, on_failure_args=["failure"]) as flow:
        diamond(flow)
        flow.add("tidy", flowing.join, depends_on={"root": "run"})
        flow.add("report", flowing.join, depends_on="left", on_failure="run")
    run_all()
    assert statuses(flow) == {
        "root": "FAILED", "left": "DISCARDED", "right": "DISCARDED", "end": "DISCARDED", "tidy": "SUCCESSFUL",
        "report": "SUCCESSFUL",
    }  # fmt: skip
    assert value(flow, "tidy") == {"root": ["FAILED", None]}
    assert value(flow, "report") == {"left": ["DISCARDED", None]}
    assert ("told", "failure") in TOLD
    doomed = default_task_backend.get_result(str(flow.node_ids()["left"]))
    assert doomed.errors[-1].exception_class_path.endswith("UpstreamFailed")


def test_many_nodes_are_added_at_once_and_name_each_other(site: str) -> None:
    with workflows.workflow("many") as flow:
        flow.add("root", flowing.step, "root")
        results = flow.add_many(
            [
                Node("first", flowing.step, ["first"], depends_on="root"),
                Node("second", shop.send_invoice, [7], {"copy": True}, depends_on=["first", "root"]),
            ]
        )
    assert [result.args for result in results] == [["first"], [7]]
    assert flow.add_many([]) == []
    run_all()
    assert value(flow, "second") == "invoice 7"


def test_an_error_in_the_block_leaves_nothing_behind(site: str) -> None:
    def build() -> None:
        with workflows.workflow("etl") as flow:
            diamond(flow)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build()
    assert not OxpullWorkflow.objects.exists()
    assert not OxpullTask.objects.exists()


def test_a_rollback_of_the_caller_takes_back_what_was_added_and_sealed(site: str) -> None:
    flow = workflows.create("steps")
    with transaction.atomic(using=site):
        flow.add("first", flowing.step, "first")
        flow.seal()
        transaction.set_rollback(True, using=site)
    assert (flow.status, flow.progress().total) == ("OPEN", 0)
    flow.add("first", flowing.step, "first")
    flow.seal()
    for late in (lambda: flow.add("late", flowing.step, "late"), flow.seal):
        with pytest.raises(WorkflowSealed) as refused:
            late()
        assert isinstance(refused.value, CoreWorkflowSealed)
        assert isinstance(refused.value, TaskException)
    assert OxpullTask.objects.count() == 1


def test_names_are_taken_once_and_must_be_known_and_the_transaction_lives_on(site: str) -> None:
    flow = workflows.create("names")
    with transaction.atomic(using=site):
        flow.add("first", flowing.step, "first")
        with pytest.raises(WorkflowNodeExists):
            flow.add("first", flowing.step, "again")
        with pytest.raises(UnknownWorkflowNode, match="'later', 'third'"):
            flow.add("second", flowing.step, "second", depends_on=["later", "first", "third"])
        with pytest.raises(UnknownWorkflowNode):
            flow.add("itself", flowing.step, "itself", depends_on="itself")
        flow.add("First", flowing.step, "another", depends_on=[])
    assert flow.node_ids().keys() == {"first", "First"}
    assert OxpullTask.objects.count() == 2


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"depends_on": 1}, ImproperlyConfigured, "depends_on=1"),
        ({"depends_on": [1]}, ImproperlyConfigured, "node's name"),
        ({"depends_on": {"first": "maybe"}}, ImproperlyConfigured, "'maybe'"),
        ({"on_failure": "maybe"}, ImproperlyConfigured, "'maybe'"),
        ({"node_name": ""}, ValueError, "1 to 128"),
        ({"node_name": "n" * 129}, ValueError, "1 to 128"),
        ({"task": flowing.step.func}, ImproperlyConfigured, "is no task"),
        ({"task": shop.send_invoice.using(unique=Unique(on_duplicate="replace"))}, InvalidTask, "on_duplicate"),
    ],
)
def test_what_is_wrong_with_a_node_is_said_before_anything_is_written(
    site: str, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    flow = workflows.create("wrong")
    given = {"node_name": "second", "task": flowing.step, **options}
    with pytest.raises(error, match=words):
        flow.add(given.pop("node_name"), given.pop("task"), "second", **given)
    with pytest.raises(ImproperlyConfigured, match="is no node"):
        flow.add_many([flowing.step])  # type: ignore[list-item]
    assert not OxpullTask.objects.exists()


def test_an_error_of_many_names_the_node(site: str) -> None:
    flow = workflows.create("wrong")
    with pytest.raises(TypeError, match="node 'second'"):
        flow.add_many([Node("first", flowing.step, ["x"]), Node("second", flowing.step, [object()])])
    assert not OxpullTask.objects.exists()


def test_nodes_of_every_alias_of_ours_are_added_in_one_call(site: str) -> None:
    with override_settings(TASKS={"default": {"BACKEND": OURS, "QUEUES": []}, "bulk": {"BACKEND": OURS, "QUEUES": []}}):
        flow = workflows.create("two")
        flow.add_many(
            [Node("first", flowing.step, ["x"]), Node("second", flowing.step.using(backend="bulk"), ["y"], {}, "first")]
        )
    assert set(OxpullTask.objects.values_list("backend_alias", flat=True)) == {"default", "bulk"}


def test_D4_a_unique_task_is_a_root_as_it_is_and_no_dependent(site: str) -> None:
    pending = shop.charge.enqueue(1)
    flow = workflows.create("unique")
    adopted = flow.add("charge", shop.charge, 1)
    assert (adopted.id, adopted.created) == (pending.id, False)
    other = shop.charge.enqueue(2)
    with pytest.raises(AlreadyEnqueued) as refused:
        flow.add("next", shop.charge, 2, depends_on="charge")
    assert getattr(refused.value.existing, "id", None) == other.id
    assert flow.node_ids().keys() == {"charge"}


def test_C5_what_ended_before_the_commit_is_followed_by_the_next_pass(site: str) -> None:
    shop.charge.enqueue(1)
    flow = workflows.create("adopts")
    flow.add("charge", shop.charge, 1)
    flow.add("after", flowing.step, "after", depends_on="charge")
    flow.seal()
    run_all()
    assert workflows.reconcile.call() == 0
    run_all()
    assert (flow.progress().succeeded, flow.status) == (2, "COMPLETE")


def test_reconcile_finds_rows_deleted_by_hand_and_is_a_task_of_this_path(site: str) -> None:
    with workflows.workflow("deleted") as flow:
        node = flow.add("first", flowing.step, "first")
    run_blocking(raw.delete(DjangoConnection(site), node.id))
    assert workflows.reconcile.module_path == "compat_sync.workflows.reconcile"
    workflows.reconcile.enqueue()
    run_all()
    assert (flow.progress().unattributed, flow.status) == (1, "COMPLETE")


def test_a_workflow_can_be_cancelled(site: str) -> None:
    flow = workflows.create("cancelled", on_failure=flowing.told, on_failure_args=["failure"])
    diamond(flow)
    assert flow.cancel()
    assert not flow.cancel()
    assert (flow.progress().unattributed, flow.status) == (4, "COMPLETE")
    run_all()
    assert TOLD == [("told", "failure")]


def test_D3_it_goes_on_from_a_node_that_ended_badly(site: str) -> None:
    FAILING.add("root")
    with workflows.workflow("again", on_success=flowing.told, on_success_args=["success"]) as flow:
        diamond(flow)
    run_all()
    assert flow.status == "COMPLETE"
    with pytest.raises(UnknownWorkflowNode):
        flow.retry_from("nothing")
    with pytest.raises(ValueError, match="1 to 128"):
        flow.retry_from(7)  # type: ignore[arg-type]
    FAILING.clear()
    assert flow.retry_from("root", callbacks=True) == 4
    assert flow.status == "SEALED"
    assert flow.retry_from("end") == 0
    run_all()
    assert (flow.status, flow.progress().succeeded) == ("COMPLETE", 4)
    assert TOLD[-1] == ("told", "success")


def test_D3_a_unique_workflow_is_made_once_until_it_is_complete(site: str) -> None:
    flow = workflows.create("nightly", unique="2026-01-01")
    with pytest.raises(AlreadyEnqueued) as refused:
        workflows.create("nightly", unique="2026-01-01")
    assert isinstance(refused.value.existing, workflows.Workflow)
    assert refused.value.existing.id == flow.id
    with transaction.atomic(using=site):
        with pytest.raises(AlreadyEnqueued):
            workflows.create("nightly", unique="2026-01-01")
        workflows.create("other", unique="2026-01-02")
    flow.seal()
    assert workflows.create("nightly", unique="2026-01-01").id != flow.id


def test_what_is_not_there_is_said_to_be_missing_by_every_name(site: str) -> None:
    for missing in (uuid4(), "no id"):
        with pytest.raises(WorkflowDoesNotExist) as refused:
            workflows.get(missing)
        assert isinstance(refused.value, ObjectDoesNotExist)
    with pytest.raises(OxpullWorkflow.DoesNotExist):
        workflows.get(uuid4())
    with pytest.raises(WorkflowDoesNotExist):
        OxpullWorkflow.objects.get(pk=uuid4())


def test_what_is_wrong_with_a_workflow_is_refused_at_creation(site: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="cannot be imported"):
        workflows.create("wrong", on_complete="tests.compat.flowing.nothing")
    with pytest.raises(ImproperlyConfigured, match="takes its batch"):
        workflows.create("wrong", on_complete=batched.report, on_complete_args=["x"])
    with pytest.raises(ImproperlyConfigured, match="is unique"):
        workflows.create("wrong", on_complete=shop.charge, on_complete_args=[1])
    with pytest.raises(ValueError, match="at most 128"):
        workflows.create("n" * 129)
    with pytest.raises(TypeError, match="did you mean 'on_complete'"):
        workflows.create("n", on_completed=flowing.told)  # type: ignore[call-arg]
    assert not OxpullWorkflow.objects.exists()


def test_E2_the_signal_of_a_node_is_sent_when_it_is_added(site: str) -> None:
    heard = []

    def hear(**sent: object) -> None:
        heard.append(sent["task_result"])

    flow = workflows.create("heard")
    signals.task_enqueued.connect(hear)
    try:
        first = flow.add("first", flowing.step, "first")
        second = flow.add("second", flowing.step, "second", depends_on="first")
    finally:
        signals.task_enqueued.disconnect(hear)
    assert heard == [first, second]
    assert second.status is TaskResultStatus.READY
    assert second.stored_status == "WAITING"


def test_the_rows_can_be_read(site: str) -> None:
    flow = workflows.create("read")
    first = flow.add("first", flowing.step, "first")
    second = flow.add("second", flowing.step, "second", depends_on={"first": "run"})
    row = OxpullWorkflow.objects.get(pk=flow.id)
    assert (row.name, row.nodes, row.callbacks, str(row)) == ("read", 2, [], f"read {flow.id}")
    counts = OxpullWorkflowCounts.objects.get(pk=flow.id)
    assert (counts.status, counts.total, str(counts)) == ("OPEN", None, f"{flow.id} (OPEN)")
    node = OxpullWorkflowNode.objects.get(pk=second.id)
    assert (node.name, node.unmet, node.counted, str(node)) == ("second", 1, None, f"second of {flow.id}")
    edge = OxpullWorkflowEdge.objects.get(downstream_id=second.id)
    assert (str(edge.upstream_id), edge.on_failure, edge.state) == (first.id, "run", None)
    assert str(edge) == f"{first.id} to {second.id} (open)"
    assert OxpullTask.objects.get(pk=first.id).workflow_id == flow.id
    assert OxpullTask.objects.get(pk=second.id).waiting_for == "edges"
