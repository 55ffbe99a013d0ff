"""A7: which outcomes are settled in one transaction."""

from datetime import UTC, datetime

import pytest

from oxpull_async.domain.annotations import ArgumentCodec
from oxpull_async.domain.outcome import Cancelled, Failed, Outcome, Released, Snoozed, Succeeded
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.domain.retry import RetryPolicy
from oxpull_async.domain.task import Body
from oxpull_async.runtime.attempts import Attempt
from oxpull_async.runtime.endings import Ended, together
from oxpull_async.runtime.lookup import Runnable

NOW = datetime(2030, 1, 1, tzinfo=UTC)
GOOD, BAD = Succeeded("1"), Failed("{}", None)


async def _nothing() -> None:
    pass


BODY = Body(_nothing, ArgumentCodec.for_function(_nothing, skip_first=0), is_coroutine=True, takes_context=False)


def ended(outcome: Outcome, workflow_id: str | None = None) -> Ended:
    claimed = ClaimedTask("id", 1, "a.b", "default", 0, NOW, "[]", "{}", 1, 3, 0, None, True, workflow_id=workflow_id)
    return Ended(Attempt(claimed, "worker", Runnable(BODY, RetryPolicy()), 0.0), outcome)


@pytest.mark.parametrize("bad", [BAD, Cancelled("{}")])
def test_A7_what_ends_a_node_badly_is_settled_alone(bad: Outcome) -> None:
    batch = [ended(GOOD), ended(GOOD, "w"), ended(bad, "w"), ended(bad, "w"), ended(GOOD)]
    assert [together(batch[place:]) for place in range(6)] == [2, 1, 1, 1, 1, 0]


@pytest.mark.parametrize("other", [GOOD, Failed("{}", 1.0), Snoozed(1.0), Released()])
def test_A7_everything_else_is_settled_together(other: Outcome) -> None:
    assert together([ended(other, "w"), ended(BAD), ended(other, "w")]) == 3
