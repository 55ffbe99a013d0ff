"""Unique tasks while callers race for the same keys."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.domain.record import TaskStatus, new_record
from tests.fixtures.make import new_task
from tests.scenarios import unique, unique_modes

FIRE = unique.Fire(enqueues=200, keys=50, seconds=0.1, pause=0.02)


@pytest.mark.timeout(180)
@pytest.mark.asyncio
async def test_C1_a_key_never_has_two_live_holders_and_every_answer_is_true(url: str) -> None:
    await unique.one_holder_per_key(url, FIRE, processes=4, kills=4)


@pytest.mark.asyncio
async def test_C1_many_rerun_enqueues_during_one_run_make_one_follow_up_with_the_last_arguments(url: str) -> None:
    await unique_modes.rerun_once(url, rounds=2, enqueues=30)


@pytest.mark.asyncio
async def test_C2_debounce_under_constant_fire_runs_once_at_max_wait(url: str) -> None:
    await unique_modes.debounced_once(url, wait=0.5, max_wait=1.5, slack=1.0)


@pytest.mark.asyncio
async def test_C3_a_bulk_call_keeps_the_first_of_each_key_and_its_place(url: str) -> None:
    figures = await unique_modes.unique_in_bulk(url, calls=1_000, runs=1)
    assert figures.rows_written == 500


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.asyncio
async def test_G2_the_onlooker_sees_two_live_holders_where_the_lock_row_is_not_written(url: str) -> None:
    with pytest.raises(AssertionError, match="have several live holders"):
        await unique.one_holder_per_key(url, replace(FIRE, enqueues=50, keyless=True), processes=2, workers=1, kills=1)


def test_G2_the_checks_of_answers_see_a_stale_one_a_lost_row_and_a_row_of_nobody() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    ended = replace(new_record(new_task(), now, now), status=TaskStatus.SUCCESSFUL, finished_at=now)
    unique.check_live(unique.Answer(ended.id, created=False, asked_at=now), {ended.id: ended})
    with pytest.raises(AssertionError, match="had ended at"):
        unique.check_live(
            unique.Answer(ended.id, created=False, asked_at=now + timedelta(seconds=1)), {ended.id: ended}
        )
    with pytest.raises(AssertionError, match="1 rows that nobody created"):
        unique.check_created([], {ended.id: ended})
    with pytest.raises(AssertionError, match="1 created rows that are not there"):
        unique.check_created([ended.id], {})
