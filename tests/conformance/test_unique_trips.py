"""C1 to C4: how many statements a unique enqueue costs, and that a stale hint costs no truth."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.record import TaskId, TaskStatus, wire_id
from oxpull_async.domain.unique import Unique
from oxpull_async.store.operate import PruneRequest, discard, prune_step
from oxpull_async.store.unique import enqueue_unique
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.conformance.spy import Spy
from tests.fixtures import make, raw

RAISE = Unique(on_duplicate="raise")
STARTED = Unique(until="started")
UPDATING = (Unique(on_duplicate="replace"), Unique(on_duplicate="debounce", wait=60), Unique(on_duplicate="rerun"))


class Counting(Spy):
    """Notes transactions and savepoints too."""

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.sent]

    def transaction(self) -> AbstractAsyncContextManager[None]:
        self.sent.append(("transaction", 0))
        return super().transaction()


async def put(conn: Connection, unique: Unique, *, met: bool, **options: object) -> UniqueAnswer:
    call = make.unique_call(unique, **options)  # type: ignore[arg-type]
    return await enqueue_unique(conn, replace(call, met=met))


async def sent(conn: Connection, unique: Unique, *, met: bool) -> list[str]:
    """Enqueue, and list what was sent."""
    counting = Counting(conn)
    answer = await put(counting, unique, met=met)
    assert await make.record(conn, answer.record.id) == answer.record
    return counting.names


def takes_at_once(conn: Connection) -> bool:
    return conn.dialect.enqueues_unique_at_once


async def ended(conn: Connection, unique: Unique = make.PLAIN) -> TaskId:
    """Leave a key whose holder has succeeded."""
    await put(conn, unique, met=False)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert await make.settled(conn, claimed, Succeeded("1")) is TaskStatus.SUCCESSFUL
    return claimed.id


@pytest.mark.parametrize("unique", [make.PLAIN, RAISE, STARTED], ids=["existing", "raise", "started"])
async def test_a_duplicate_of_a_key_that_was_met_costs_one_read_and_no_transaction(
    conn: Connection, unique: Unique
) -> None:
    await put(conn, unique, met=False)
    assert await sent(conn, unique, met=True) == ["find_holder"]
    first = "insert_unique_task" if takes_at_once(conn) else "free_key"
    assert await sent(conn, unique, met=False) == [first, "find_holder"]


async def test_a_fresh_key_costs_one_statement_where_the_dialect_can(conn: Connection) -> None:
    once = ["insert_unique_task"]
    steps = once if takes_at_once(conn) else ["free_key", "transaction", "insert_keys", "insert_task_of_key"]
    assert await sent(conn, make.PLAIN, met=False) == steps


@pytest.mark.parametrize("unique", UPDATING, ids=lambda unique: unique.on_duplicate)
async def test_an_unstarted_holder_is_rewritten_by_one_statement_where_the_dialect_can(
    conn: Connection, unique: Unique
) -> None:
    await put(conn, unique, met=False)
    careful = ["find_holder", "transaction", "lock_keys", "lock_tasks", "rewrite_unstarted", "get_tasks"]
    assert await sent(conn, unique, met=True) == (["rewrite_holder"] if takes_at_once(conn) else careful)


async def test_the_key_of_an_ended_holder_is_taken_over_by_one_statement_where_the_dialect_can(
    conn: Connection,
) -> None:
    former = await ended(conn)
    careful = ["find_holder", "transaction", "lock_keys", "lock_tasks", "take_keys", "read_clock"]
    steps = await sent(conn, make.PLAIN, met=True)
    if takes_at_once(conn):
        assert steps == ["find_holder", "take_over_key"]
    else:
        assert steps == [*careful, "transaction", "insert_tasks"]
    assert (await put(conn, make.PLAIN, met=True)).record.id != former


async def nothing_ever(_: Connection) -> None:
    pass


async def settled(conn: Connection) -> None:
    await ended(conn)


async def discarded(conn: Connection) -> None:
    await discard(conn, [(await put(conn, make.PLAIN, met=False)).record.id])


async def pruned(conn: Connection) -> None:
    await ended(conn)
    await prune_step(conn, PruneRequest(0, ("SUCCESSFUL",), 100, dry_run=False), None)


async def deleted_by_hand(conn: Connection) -> None:
    id_ = (await put(conn, make.PLAIN, met=False)).record.id
    await conn.run_script(f"DELETE FROM oxpull_task WHERE id = '{wire_id(id_)}'")


async def key_deleted_by_hand(conn: Connection) -> None:
    await deleted_by_hand(conn)
    await conn.run_script("DELETE FROM oxpull_unique")


STALE = (nothing_ever, settled, discarded, pruned, deleted_by_hand, key_deleted_by_hand)
FRESH = (make.PLAIN, RAISE, *UPDATING)


@pytest.mark.parametrize("unique", FRESH, ids=lambda unique: unique.on_duplicate)
@pytest.mark.parametrize("happens", STALE, ids=lambda happens: happens.__name__)
async def test_a_key_that_was_met_and_is_held_no_more_is_taken(
    conn: Connection, happens: Callable[[Connection], Awaitable[None]], unique: Unique
) -> None:
    await happens(conn)
    answer = await put(conn, unique, met=True)
    assert (answer.created, answer.changed, answer.refused) == (True, True, False)
    assert await make.record(conn, answer.record.id) == answer.record
    again = await put(conn, unique, met=True, args="[7]")
    assert (again.created, again.record.id) == (False, answer.record.id)
    assert again.record.args == ([7] if unique in UPDATING else [])


async def test_a_holder_that_started_meanwhile_is_left_where_the_key_is_held_until_then(conn: Connection) -> None:
    former = (await put(conn, STARTED, met=False)).record.id
    await make.claimed(conn, await make.worker(conn))
    answer = await put(conn, STARTED, met=True)
    assert (answer.created, answer.record.id == former) == (True, False)


async def test_a_ttl_that_has_passed_is_seen_by_each_way(conn: Connection) -> None:
    for unique in (Unique(ttl=300), RAISE, UPDATING[0]):
        former = await put(conn, unique, met=False, key=unique.on_duplicate)
        await raw.change_key(conn, unique.on_duplicate, "expires_at = '2001-01-01 00:00:00.000000'")
        answer = await put(conn, unique, met=True, key=unique.on_duplicate)
        assert (answer.created, answer.record.id == former.record.id) == (True, False)


async def test_in_a_transaction_a_duplicate_costs_one_read_in_a_savepoint(conn: Connection) -> None:
    """SQLite writes first: a transaction that has only read may never write, and its snapshot may be outrun."""
    await put(conn, make.PLAIN, met=False)
    first = [] if conn.dialect.skips_locked else ["insert_unique_task"]
    async with conn.transaction():
        assert await sent(conn, make.PLAIN, met=True) == ["transaction", *first, "find_holder"]
