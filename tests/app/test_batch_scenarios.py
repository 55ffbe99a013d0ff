"""The scenarios of `make proof` about batches, at a small size, and that their checkers can fail."""

from dataclasses import replace

import pytest

from oxpull_async import BatchProgress, Oxpull
from oxpull_async.domain.batch import BatchStatus
from oxpull_async.domain.record import TaskStatus, new_record
from tests.app.kit import unmasked
from tests.fixtures import make
from tests.scenarios.batches import check_callbacks, check_counts, completed, settle_cost

PROGRESS = BatchProgress(2, 0, 1, 1, 0, BatchStatus.COMPLETE)
NOW = "2030-01-01 00:00:00.000000"
MEMBERS = [replace(new_record(make.new_task(), NOW, NOW), status=TaskStatus(one)) for one in ("SUCCESSFUL", "FAILED")]


@pytest.mark.asyncio
async def test_batches_complete_once_while_workers_are_killed(ox: Oxpull) -> None:
    figures = await completed(unmasked(ox), sizes=(150, 20), kills=1)
    assert figures.callbacks == 4


@pytest.mark.asyncio
async def test_the_cost_of_a_settle_can_be_compared(ox: Oxpull) -> None:
    assert (await settle_cost(unmasked(ox), small=5, large=50, bar=None)).settles == 4


def test_G2_the_checkers_see_wrong_counts_and_callbacks() -> None:
    check_counts(PROGRESS, MEMBERS)
    with pytest.raises(AssertionError, match="the rows say"):
        check_counts(replace(PROGRESS, succeeded=2, failed=0), MEMBERS)
    once = [new_record(make.new_task(args=f'["{kind}", 0]'), NOW, NOW) for kind in ("complete", "failure")]
    check_callbacks(PROGRESS, once)
    for wrong in (once[:1], [*once, once[0]]):
        with pytest.raises(AssertionError):
            check_callbacks(PROGRESS, wrong)
