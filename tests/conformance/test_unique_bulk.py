"""C3: a bulk enqueue equals the same calls one after another, or writes nothing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import pytest

from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.errors import DataRefused
from oxpull_async.domain.unique import Unique
from oxpull_async.store.follow_ups import lock_free_keys, what_hangs_on
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many, find
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.conformance.meanwhile import Meanwhile
from tests.conformance.spy import Spy
from tests.conformance.wrapper import Wrapper
from tests.fixtures import make, raw

RAISE = Unique(on_duplicate="raise")
REPLACE = Unique(on_duplicate="replace")
RERUN = Unique(on_duplicate="rerun")
DEBOUNCE = Unique(on_duplicate="debounce", wait=60, max_wait=100)
STARTED = Unique(until="started", on_duplicate="replace")
MODES = {"existing": make.PLAIN, "replace": REPLACE, "debounce": DEBOUNCE, "rerun": RERUN, "started": STARTED}
PAIRS = [*product(list(MODES)[:4], repeat=2), ("existing", "started"), ("rerun", "started"), ("started", "rerun")]


async def put(conn: Connection, unique: Unique = make.PLAIN, **options: object) -> UniqueAnswer:
    return await enqueue_unique(conn, make.unique_call(unique, **options))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Result:
    """What calls of one key came to: which task answers each, and what is stored in the end."""

    answers: list[tuple[int, bool]]
    stored: list[tuple[list[int], str, str | None, bool]]


async def result(conn: Connection, answers: Sequence[UniqueAnswer], key: str) -> Result:
    """Name tasks by their place in the order of creation."""
    found = (await find(conn, [key]))[key]
    ids = sorted({answer.record.id for answer in answers} | {found.holder_id})
    records = [await make.record(conn, id_) for id_ in ids]
    reruns = (await what_hangs_on(conn, ids)).keys
    return Result(
        [(ids.index(answer.record.id), answer.created) for answer in answers],
        [(record.args, str(record.status), record.waiting_for, record.id in reruns) for record in records],
    )


async def begin(conn: Connection, key: str, state: str) -> None:
    """Bring a key into a state."""
    if state != "free":
        await put(conn, make.PLAIN if "undeclared" in state else RERUN, key=key, args="[0]", queue_name=key)
    if "running" in state:
        await make.claimed_from(conn, await make.worker(conn), key)
    if "follow-up" in state:
        await put(conn, RERUN, key=key, args="[-1]")


@pytest.mark.parametrize(
    "state",
    ["free", "held by a ready task", "held by a running task", "held by a running task with a follow-up",
     "undeclared and running"],
)  # fmt: skip
async def test_C3_bulk_equals_the_same_calls_one_after_another(conn: Connection, state: str) -> None:
    for number, modes in enumerate(PAIRS):
        results = []
        for way in ("single", "bulk"):
            key = f"{way} {number}"
            await begin(conn, key, state)
            calls = [
                make.unique_call(MODES[mode], key=key, position=at, args=f"[{at + 1}]") for at, mode in enumerate(modes)
            ]
            if way == "single":
                answers = [await enqueue_unique(conn, call) for call in calls]
            else:
                found = await enqueue_unique_many(conn, calls)
                answers = [found[at] for at in sorted(found)]
            results.append(await result(conn, answers, key))
        assert results[0] == results[1], modes


async def test_C3_bulk_answers_every_position_and_stores_plain_tasks_beside(conn: Connection) -> None:
    held = await put(conn, key="held")
    plain = {1: make.new_task(), 3: make.new_task()}
    calls = [make.unique_call(key=key, position=at) for at, key in ((0, "held"), (2, "new"), (4, "new"))]
    answers = await enqueue_unique_many(conn, calls, plain)
    assert {at: answer.created for at, answer in answers.items()} == {0: False, 1: True, 2: True, 3: True, 4: False}
    assert answers[0].record.id == held.record.id
    assert answers[4].record == answers[2].record
    for answer in answers.values():
        assert await make.record(conn, answer.record.id) == answer.record
    assert await raw.count_tasks(conn) == 4


async def test_C3_bulk_refuses_for_the_lowest_position_and_writes_nothing(conn: Connection) -> None:
    held = {key: (await put(conn, key=key)).record for key in ("z", "a")}
    calls = [
        make.unique_call(key="free", position=0),
        make.unique_call(RAISE, key="z", position=1),
        make.unique_call(RAISE, key="a", position=2),
        make.unique_call(REPLACE, key="a", position=3, args="[9]"),
    ]
    answers = await enqueue_unique_many(conn, calls, {4: make.new_task()})
    assert {at: (answer.refused, answer.record) for at, answer in answers.items()} == {1: (True, held["z"])}
    assert await raw.count_tasks(conn) == 2
    assert await find(conn, ["free"]) == {}
    assert await make.record(conn, held["a"].id) == held["a"]


async def test_C3_bulk_that_a_database_refuses_writes_nothing(conn: Connection) -> None:
    calls = [make.unique_call(key="a"), make.unique_call(key="b", position=1, args="{")]
    with pytest.raises(DataRefused):
        await enqueue_unique_many(conn, calls, {2: make.new_task()})
    assert await find(conn, ["a", "b"]) == {}
    assert await raw.count_tasks(conn) == 0


async def test_bulk_is_cut_so_that_every_statement_fits(conn: Connection) -> None:
    text = f'["{"x" * 3000}"]'
    for _ in range(2):
        calls = [make.unique_call(REPLACE, key=f"key {at}", position=at, args=text) for at in range(20)]
        spy = Spy(conn, max_batch_bytes=10_000)
        answers = await enqueue_unique_many(spy, calls)
        assert len(answers) == 20
        assert max(size for _, size in spy.sent) < 20_000
    assert not any(answer.created for answer in answers.values())
    assert await raw.count_tasks(conn) == 20


async def test_a_call_that_is_refused_only_once_its_key_is_locked_writes_nothing(conn: Connection) -> None:
    calls = [make.unique_call(key="free"), make.unique_call(RAISE, position=1)]
    met = Meanwhile(conn, "find_holders", put)
    answers = await enqueue_unique_many(met, calls, {2: make.new_task()})
    assert {at: answer.refused for at, answer in answers.items()} == {1: True}
    assert await raw.count_tasks(conn) == 1


async def test_C3_a_bulk_locks_the_keys_it_writes_to_at_once_and_in_order_and_no_others(
    conn: Connection, other: Connection
) -> None:
    """A duplicate that is answered with its holder keeps nobody from that holder's key."""
    for key in ("d", "b", "a"):
        await put(conn, key=key)
    rules = [("c", make.PLAIN), ("d", REPLACE), ("b", make.PLAIN), ("a", REPLACE), ("e", make.PLAIN)]
    calls = [make.unique_call(rule, key=key, position=at) for at, (key, rule) in enumerate(rules)]
    locking = _Locking(conn)
    async with conn.transaction():
        answers = await enqueue_unique_many(locking, calls)
        assert [answers[at].created for at in range(5)] == [True, False, False, False, True]
        assert locking.keys[0] == ["a", "c", "d", "e"]
        assert all("b" not in keys for keys in locking.keys)
        if conn.dialect.skips_locked:
            assert await lock_free_keys(other, list("abde")) == {"b"}


class _Locking(Wrapper):
    """A connection that notes which keys its statements lock."""

    def __init__(self, inner: Connection) -> None:
        super().__init__(inner)
        self.keys: list[list[str]] = []

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        self._note(statement, values)
        return await super().fetch(statement, **values)

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        self._note(statement, values)
        return await super().execute(statement, **values)

    def _note(self, statement: str, values: dict[str, Scalar]) -> None:
        if statement in {"lock_keys", "insert_keys"}:
            keys = json.loads(str(values["keys"]))
            self.keys.append([key if isinstance(key, str) else key["unique_key"] for key in keys])
