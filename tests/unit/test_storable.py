"""Names of every kind are refused before anything is written where a database could not give them back."""

from collections.abc import Callable

import pytest

from oxpull_async.domain import batch, limit_name, schedule, task, workflow_plan
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.rate_limit import RateLimit
from oxpull_async.domain.settings import Settings

CHECKS: dict[str, Callable[[str], object]] = {
    "queue": task.checked_queue,
    "task path": task.checked_task_path,
    "schedule": schedule.checked_name,
    "alias": lambda name: Settings.of({"alias": name}),
    "batch or workflow": batch.checked_name,
    "rate limit": limit_name.checked_limit_name,
    "queue of a limit": lambda name: RateLimit(1, per=1, queues=[name]),
    "path of a limit": lambda name: RateLimit(1, per=1, tasks=[f"shop.{name}"]),
    "node": workflow_plan.checked_node_name,
    "upstream": lambda name: workflow_plan.planned_node("n", [name]),
}


@pytest.mark.parametrize("name", ["a\ud800", "a\0b", "\udfff"], ids=["high surrogate", "NUL", "low surrogate"])
@pytest.mark.parametrize("what", CHECKS)
def test_F2_a_name_that_no_database_stores_is_refused(what: str, name: str) -> None:
    with pytest.raises(UsageError, match="surrogate"):
        CHECKS[what](name)


@pytest.mark.parametrize("what", CHECKS)
def test_a_name_of_any_other_characters_is_taken(what: str) -> None:
    for name in ("ä \N{GRINNING FACE}", "a\ufffdb", "\ue000"):
        CHECKS[what](name)


def test_a_list_of_what_is_no_name_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="a node's name"):
        workflow_plan.planned_node("n", [["a"]])


@pytest.mark.parametrize("expire_after", [1e12, 1e300])
def test_an_expiry_that_no_database_reckons_with_is_refused(expire_after: float) -> None:
    with pytest.raises(UsageError, match=r"expire_after=.*None to keep it open"):
        batch.checked_expiry(expire_after)
    assert batch.checked_expiry(366 * 86_400) == 366 * 86_400
