"""Unique keys through the public API: what is hashed, and what a key function may do."""

import datetime as dt
import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest

from oxpull_async import Oxpull, Unique
from oxpull_async.errors import InvalidArguments, InvalidTask
from tests.app.kit import add, count, nothing, open_oxpull, unmasked
from tests.app.unique_kit import expiry_of, key_of
from tests.unit.test_keys import PYTHON_ARGS

pytestmark = pytest.mark.asyncio

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "unique_keys.json").read_text()
)
BY_NUMBER = Unique(key=lambda number=0: str(number))


async def bill(order: int, day: dt.date, note: str = "") -> None:
    pass


async def test_every_call_is_stored_under_the_key_of_its_vector(ox: Oxpull) -> None:
    for vector in VECTORS["vectors"]:
        async with open_oxpull(unmasked(ox), alias=vector["backend_alias"]) as named:
            task = named.remote(vector["task_path"], queue_name=vector["queue_name"], unique=True)
            result = await task.enqueue(*vector["args"], **vector["kwargs"])
            assert (await key_of(named, result), vector["note"]) == (vector["key"], vector["note"])


async def test_values_that_are_stored_alike_are_one_call(ox: Oxpull) -> None:
    task = ox.remote("shop.tasks.send_invoice", unique=True)
    for equality in VECTORS["equalities"]:
        first = await task.enqueue(*equality["json_args"])
        second = await task.enqueue(*PYTHON_ARGS[equality["note"]])
        assert (second.id, second.created) == (first.id, False)


async def test_typed_arguments_are_compared_as_they_are_stored(ox: Oxpull) -> None:
    task = ox.task(unique=True)(bill)
    first = await task.enqueue(1, dt.date(2026, 1, 2))
    second = await ox.remote(task.path, unique=True).enqueue(1, "2026-01-02")
    assert second.id == first.id


async def test_another_queue_is_another_key_and_another_priority_is_not(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    first = await task.enqueue(1)
    assert (await task.using(priority=7).enqueue(1)).id == first.id
    assert (await task.using(queue_name="mail").enqueue(1)).created
    assert (await task.enqueue(number=1)).created


async def test_a_key_function_gets_the_python_values_as_they_were_passed(ox: Oxpull) -> None:
    seen: list[Any] = []

    def key(order: int, day: dt.date, note: str = "") -> str:
        seen.append((order, day, note))
        return f"{order}"

    task = ox.task(unique=Unique(key=key))(bill)
    first = await task.enqueue(1, dt.date(2026, 1, 2), note="a")
    second = await task.enqueue(order=1, day=dt.date(2027, 1, 2))
    assert seen == [(1, dt.date(2026, 1, 2), "a"), (1, dt.date(2027, 1, 2), "")]
    assert (second.id, second.args) == (first.id, [1, "2026-01-02"])


async def test_a_key_function_is_asked_only_about_arguments_that_fit(ox: Oxpull) -> None:
    asked: list[int] = []

    def key(a: int, b: int = 0) -> str:
        asked.append(a)
        return f"{a} {b}"

    task: Any = ox.task(unique=Unique(key=key))(add)
    for args in ((), (1, 2, 3), (math.nan,)):
        with pytest.raises(InvalidArguments):
            await task.enqueue(*args)
    assert asked == []


async def test_the_text_of_a_key_function_is_apart_from_the_arguments(ox: Oxpull) -> None:
    task = ox.task(nothing)
    keyed = await task.using(unique=BY_NUMBER).enqueue(1)
    plain = await task.using(unique=True).enqueue(1)
    elsewhere = await task.using(unique=BY_NUMBER, queue_name="mail").enqueue(1)
    assert len({await key_of(ox, result) for result in (keyed, plain, elsewhere)}) == 3


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "x" * 100_000, "ä\n"])
async def test_any_text_is_a_key(ox: Oxpull, text: str) -> None:
    task = ox.task(unique=Unique(key=lambda *_, **__: text))(nothing)
    first = await task.enqueue(1)
    assert (await task.enqueue(2)).id == first.id


async def test_C7_empty_text_means_the_whole_task_and_is_logged_once(
    ox: Oxpull, caplog: pytest.LogCaptureFixture
) -> None:
    task = ox.task(unique=Unique(key=lambda *_, **__: ""))(nothing)
    with caplog.at_level(logging.WARNING, "oxpull_async"):
        results = [await task.enqueue(number) for number in range(3)]
        await ox.enqueue_many([task.using(priority=1).call(number) for number in range(3)])
    assert len({result.id for result in results}) == 1
    logged = [record.getMessage() for record in caplog.records if record.name == "oxpull_async.enqueue"]
    assert logged == ["the unique key of tests.app.kit.nothing is empty text: all its calls are one to it"]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (lambda number=0: number, r"returned 1, not text"),
        (lambda *_, **__: None, r"returned None, not text"),
        (lambda *_, **__: 1 // 0, r"raised ZeroDivisionError"),
    ],
)
async def test_a_key_that_cannot_be_had_writes_nothing_and_names_the_task(ox: Oxpull, key: Any, words: str) -> None:
    task, plain = ox.task(unique=Unique(key=key))(nothing), ox.task(add)
    with pytest.raises(InvalidArguments, match=rf"^tests\.app\.kit\.nothing: the key function .*{words}"):
        await task.enqueue(1)
    with pytest.raises(InvalidArguments, match=rf"^call 1 \(tests\.app\.kit\.nothing\): .*{words}"):
        await ox.enqueue_many([plain.call(1), task.call(1)])
    assert await count(ox) == 0


async def test_a_key_function_that_cannot_take_the_arguments_is_refused_where_it_is_declared(ox: Oxpull) -> None:
    wrong = Unique(key=lambda order: f"{order}")
    with pytest.raises(InvalidTask, match=r"kit\.nothing: the key function .* cannot take the task's argum"):
        ox.task(unique=wrong)(nothing)
    with pytest.raises(InvalidTask, match="cannot take the task's arguments"):
        ox.task(nothing).using(unique=wrong)
    assert ox.remote("tests.app.kit.nothing", unique=wrong).options.unique is not None


async def test_the_context_is_no_argument_of_a_key_function(ox: Oxpull) -> None:
    async def with_context(context: Any, number: int) -> None:
        pass

    task: Any = ox.task(takes_context=True, unique=Unique(key=lambda number: f"{number}"))(with_context)
    first = await task.enqueue(1)
    assert (await task.enqueue(1)).id == first.id


@pytest.mark.parametrize("unique", [None, "yes", 1, Unique])
async def test_what_is_no_rule_is_refused(ox: Oxpull, unique: Any) -> None:
    with pytest.raises(InvalidTask, match=r"unique=.* must be True, False or Unique\(…\)"):
        ox.task(unique=unique)(nothing)


async def test_using_switches_uniqueness_off_and_on(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    first, free = await task.enqueue(1), await task.using(unique=False).enqueue(1)
    again = await task.using(unique=False).using(unique=True).enqueue(1)
    assert (free.created, again.created, again.id) == (True, False, first.id)
    assert await key_of(ox, free) is None


async def test_the_settings_make_listed_tasks_unique(ox: Oxpull) -> None:
    listed = [ox.task(nothing), "shop.tasks.send", "tests.app.kit.add"]
    async with open_oxpull(unmasked(ox), unique_tasks=listed, unique_ttl=60) as named:
        for task in (named.task(nothing), named.remote("shop.tasks.send"), named.remote("tests.app.kit.nothing")):
            assert (task.options.unique is not None, task.options.unique and task.options.unique.ttl) == (True, 60)
        assert named.task(unique=False)(add).options.unique is None
        assert named.remote("shop.tasks.other").options.unique is None
        first = await named.enqueue("shop.tasks.send", 1)
        assert (await named.enqueue("shop.tasks.send", 1)).id == first.id


async def test_C7_the_default_ttl_holds_unless_a_task_has_one_or_none(ox: Oxpull) -> None:
    async with open_oxpull(unmasked(ox), unique_ttl=dt.timedelta(minutes=1)) as named:
        task = named.task(nothing)
        rules: list[bool | Unique] = [
            True,
            Unique(ttl=5),
            Unique(ttl=math.inf),
            Unique(until="expired"),
            Unique(on_duplicate="rerun"),
        ]
        results = [await task.using(unique=rule).enqueue(number) for number, rule in enumerate(rules)]
        expiries = [(await expiry_of(named, result), result.enqueued_at) for result in results]
        took = (await task.enqueue(0)).enqueued_at - results[0].enqueued_at
    for ttl, (expiry, start) in zip((60, 5, None, 60, None), expiries, strict=True):
        assert (expiry is None) is (ttl is None)
        if expiry is not None and ttl is not None:
            assert abs(expiry - start - dt.timedelta(seconds=ttl)) <= took


async def test_a_rule_that_needs_a_ttl_is_refused_where_nobody_gives_one(ox: Oxpull) -> None:
    with pytest.raises(InvalidTask, match='until="expired" needs a finite ttl'):
        ox.task(unique=Unique(until="expired"))(nothing)
    with pytest.raises(InvalidTask, match='until="expired" needs a finite ttl'):
        Unique(until="expired", ttl=math.inf)
