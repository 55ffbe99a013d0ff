"""Named interleavings of an enqueue with what others do to its key at the same time; each says what it came to."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.races.stage import Stage, claimed, deleted, enqueue, retried, settled, stored

type Interleaving = Callable[[Stage], Awaitable[str]]


async def winner_commits_while_a_duplicate_waits(stage: Stage) -> str:
    async with stage.in_flight(enqueue):
        duplicate = await stage.waiting(stage.arrive())
    return await stage.outcome(duplicate)


async def winner_rolls_back_while_a_duplicate_waits(stage: Stage) -> str:
    async with stage.in_flight(enqueue, commit=False):
        duplicate = await stage.waiting(stage.arrive())
    return await stage.outcome(duplicate)


async def holder_is_as_the_snapshot_says(stage: Stage) -> str:
    await stored(stage)
    await stage.begin()
    return await stage.outcome(stage.enqueue())


async def holder_was_enqueued_by_the_caller_itself(stage: Stage) -> str:
    await stage.begin()
    assert (await stage.enqueue()).created
    return await stage.outcome(stage.enqueue())


async def holder_starts_after_the_snapshot(stage: Stage) -> str:
    await stored(stage)
    await stage.begin()
    await stage.beside(claimed)
    return await stage.outcome(stage.enqueue())


async def holder_is_being_claimed(stage: Stage) -> str:
    await stored(stage)
    await stage.begin()
    async with stage.in_flight(claimed):
        enqueued = asyncio.create_task(stage.enqueue())
        await asyncio.wait([enqueued])
    return await stage.outcome(enqueued)


async def holder_settles_after_the_snapshot(stage: Stage) -> str:
    await stored(stage)
    await stage.begin()
    await settled(stage)
    return await stage.outcome(stage.enqueue())


async def holder_is_deleted_after_the_snapshot(stage: Stage) -> str:
    await stored(stage)
    await stage.begin()
    await deleted(stage)
    return await stage.outcome(stage.enqueue())


async def holder_is_superseded_after_the_snapshot(stage: Stage) -> str:
    await stored(stage)
    await stage.begin()
    await settled(stage)
    await stored(stage)
    return await stage.outcome(stage.enqueue())


async def key_is_taken_after_the_snapshot(stage: Stage) -> str:
    await stage.begin()
    await stored(stage)
    return await stage.outcome(stage.enqueue())


async def settled_holder_is_as_the_snapshot_says(stage: Stage) -> str:
    await stored(stage)
    await settled(stage)
    await stage.begin()
    return await stage.outcome(stage.enqueue())


async def settled_holder_is_replaced_after_the_snapshot(stage: Stage) -> str:
    await stored(stage)
    await settled(stage)
    await stage.begin()
    await stored(stage)
    return await stage.outcome(stage.enqueue())


async def settled_holder_is_retried_after_the_snapshot(stage: Stage) -> str:
    await stored(stage)
    id_ = await settled(stage, failed=True)
    await stage.begin()
    await stage.beside(lambda conn: retried(conn, id_))
    return await stage.outcome(stage.enqueue())


async def retry_of_a_settled_holder_is_in_flight(stage: Stage) -> str:
    await stored(stage)
    id_ = await settled(stage, failed=True)
    async with stage.in_flight(lambda conn: retried(conn, id_)):
        enqueued = await stage.waiting(stage.arrive())
    return await stage.outcome(enqueued)


async def retry_of_a_settled_holder_is_rolled_back(stage: Stage) -> str:
    await stored(stage)
    id_ = await settled(stage, failed=True)
    async with stage.in_flight(lambda conn: retried(conn, id_), commit=False):
        enqueued = await stage.waiting(stage.arrive())
    return await stage.outcome(enqueued)


async def takeover_in_a_long_transaction_commits(stage: Stage) -> str:
    return await _takeover(stage, commit=True)


async def takeover_in_a_long_transaction_is_rolled_back(stage: Stage) -> str:
    return await _takeover(stage, commit=False)


async def _takeover(stage: Stage, *, commit: bool) -> str:
    """Here takes the key of a settled holder; the outcome is that of another enqueue meanwhile."""
    await stored(stage)
    await settled(stage)
    await stage.begin()
    assert (await stage.enqueue()).created
    other = await stage.waiting(stage.beside(enqueue))
    await stage.here.end(commit=commit)
    return await stage.outcome(other)


INTERLEAVINGS: dict[str, Interleaving] = {
    function.__name__.replace("_", " "): function
    for function in (
        winner_commits_while_a_duplicate_waits,
        winner_rolls_back_while_a_duplicate_waits,
        holder_is_as_the_snapshot_says,
        holder_was_enqueued_by_the_caller_itself,
        holder_starts_after_the_snapshot,
        holder_is_being_claimed,
        holder_settles_after_the_snapshot,
        holder_is_deleted_after_the_snapshot,
        holder_is_superseded_after_the_snapshot,
        key_is_taken_after_the_snapshot,
        settled_holder_is_as_the_snapshot_says,
        settled_holder_is_replaced_after_the_snapshot,
        settled_holder_is_retried_after_the_snapshot,
        retry_of_a_settled_holder_is_in_flight,
        retry_of_a_settled_holder_is_rolled_back,
        takeover_in_a_long_transaction_commits,
        takeover_in_a_long_transaction_is_rolled_back,
    )
}
