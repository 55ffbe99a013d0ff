"""The scenarios of `make proof` about workflows, at a small size, and that their checkers can fail."""

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain.events import WorkflowsReconciled
from oxpull_async.domain.record import TaskError, TaskRecord, TaskStatus, new_record
from oxpull_async.domain.sentences import sentence
from oxpull_async.domain.workflow import WorkflowProgress, WorkflowStatus
from tests.app.kit import unmasked
from tests.fixtures import make
from tests.scenarios.dags import Fate, Step, check_dag, fates, random_dag
from tests.scenarios.workflows import chain, check_followed, check_progress, random_graphs, settle_cost, wide

NOW = datetime(2030, 1, 1, tzinfo=UTC)
UPSTREAM_FAILED = TaskError("oxpull_async.errors.UpstreamFailed", "", 0, "", NOW)
DAG = [
    Step("a", False, {}),
    Step("b", True, {"a": "discard"}),
    Step("c", False, {"b": "run", "a": "discard"}),
    Step("d", False, {"b": "discard", "a": "run"}),
    Step("e", False, {"d": "run", "c": "run"}),
]


@pytest.mark.asyncio
async def test_random_workflows_become_what_their_edges_say_while_a_worker_is_killed(ox: Oxpull) -> None:
    figures = await random_graphs(unmasked(ox), count=25, kills=1)
    assert figures.callbacks == 50
    assert min(figures.succeeded, figures.failed, figures.discarded) > 0


@pytest.mark.asyncio
async def test_a_chain_is_run_by_one_worker(ox: Oxpull) -> None:
    assert (await chain(unmasked(ox), nodes=50, bar=30)).nodes == 50


@pytest.mark.asyncio
async def test_A8_many_nodes_are_added_in_one_call_and_discarded_behind_one_failure(ox: Oxpull) -> None:
    assert (await wide(unmasked(ox), nodes=1_200, width=100)).edges == 3_300


@pytest.mark.asyncio
async def test_the_cost_of_a_nodes_settle_can_be_compared(ox: Oxpull) -> None:
    assert (await settle_cost(unmasked(ox), small=5, large=50, bar=None)).settles == 4


def test_the_fates_of_a_graph() -> None:
    assert fates(DAG) == {
        "a": Fate(runs=True, value=1),
        "b": Fate(runs=True, value=None),
        "c": Fate(runs=True, value=2),
        "d": Fate(runs=False, value=None),
        "e": Fate(runs=True, value=3),
    }


def test_random_graphs_have_every_fate() -> None:
    dice = random.Random(7)
    drawn = [random_dag(dice, 18) for _ in range(50)]
    ends = [fate for dag in drawn for fate in fates(dag).values()]
    assert {(fate.runs, fate.succeeds) for fate in ends} == {(True, True), (True, False), (False, False)}
    assert any("run" in step.upstreams.values() for dag in drawn for step in dag)


def _row(status: TaskStatus, second: int, value: object = None) -> TaskRecord:
    ran = status is not TaskStatus.DISCARDED
    started = NOW + timedelta(seconds=second)
    return replace(
        new_record(make.new_task(), NOW, NOW),
        status=status,
        attempts=int(ran),
        started_at=started if ran else None,
        finished_at=started + timedelta(seconds=1),
        return_value=value,
        errors=() if ran else (UPSTREAM_FAILED,),
    )


ROWS: Mapping[str, TaskRecord] = {
    "a": _row(TaskStatus.SUCCESSFUL, 0, 1),
    "b": _row(TaskStatus.FAILED, 1),
    "c": _row(TaskStatus.SUCCESSFUL, 2, 2),
    "d": _row(TaskStatus.DISCARDED, 2),
    "e": _row(TaskStatus.SUCCESSFUL, 4, 3),
}


def test_G2_the_checkers_see_every_wrong_fate() -> None:
    check_dag(DAG, ROWS)
    check_dag(DAG, {**ROWS, "b": replace(ROWS["b"], status=TaskStatus.LOST)})
    for name, change in (
        ("d", {"status": TaskStatus.SUCCESSFUL}),
        ("d", {"errors": ()}),
        ("d", {"attempts": 1}),
        ("c", {"return_value": 1}),
        ("e", {"status": TaskStatus.READY}),
        ("e", {"started_at": NOW + timedelta(seconds=1)}),
    ):
        with pytest.raises(AssertionError, match=f"name='{name}'"):
            check_dag(DAG, {**ROWS, name: replace(ROWS[name], **change)})
    with pytest.raises(AssertionError):
        check_dag(DAG[:-1], ROWS)


def test_G2_the_checkers_see_what_nobody_followed() -> None:
    check_followed(["worker 1 started", ""])
    with pytest.raises(AssertionError):
        check_followed([sentence(WorkflowsReconciled("w", 0, 1))])


def test_G2_the_checkers_see_wrong_counts() -> None:
    right = WorkflowProgress(5, 0, 0, 3, 1, 1, WorkflowStatus.COMPLETE)
    check_progress(right, list(ROWS.values()))
    for wrong in (replace(right, failed=2, succeeded=2), replace(right, total=6), replace(right, pending=1)):
        with pytest.raises(AssertionError):
            check_progress(wrong, list(ROWS.values()))
