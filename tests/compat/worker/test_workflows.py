"""A Django worker runs workflows of Django's tasks, and gives nodes what those before them came to."""

from typing import Any

import pytest
from django.tasks import default_task_backend

from compat_sync import workflows
from tests.compat import flowing
from tests.compat.worker.conftest import Work


@pytest.fixture(autouse=True)
def _nothing_told() -> None:
    flowing.TOLD.clear()
    flowing.FAILING.clear()


def value(flow: workflows.Workflow, name: str) -> Any:
    """Return what a node's task returned."""
    return default_task_backend.get_result(str(flow.node_ids()[name])).return_value


def test_functions_and_coroutines_read_what_came_before_them(work: Work) -> None:
    with workflows.workflow("etl", on_success=flowing.told, on_success_args=["done"]) as flow:
        flow.add("root", flowing.step, "root")
        flow.add("function", flowing.join, depends_on="root")
        flow.add("coroutine", flowing.ajoin, depends_on=["root", "function"])
    work()
    assert value(flow, "function") == {"root": ["SUCCESSFUL", "ROOT"]}
    assert value(flow, "coroutine") == {
        "root": ["SUCCESSFUL", "ROOT"], "function": ["SUCCESSFUL", {"root": ["SUCCESSFUL", "ROOT"]}],
    }  # fmt: skip
    assert (flow.status, flowing.TOLD) == ("COMPLETE", [("ran", "root"), ("told", "done")])


def test_a_failed_node_is_known_to_one_that_runs_anyway(work: Work) -> None:
    flowing.FAILING.add("root")
    with workflows.workflow("broken") as flow:
        flow.add("root", flowing.step, "root")
        flow.add("never", flowing.step, "never", depends_on="root")
        flow.add("tidy", flowing.ajoin, depends_on={"root": "run", "never": "run"})
    work()
    assert value(flow, "tidy") == {"root": ["FAILED", None], "never": ["DISCARDED", None]}
    assert flow.status == "COMPLETE"
