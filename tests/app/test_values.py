"""Arguments and return values: what goes in comes back, of the same type, on every database."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from oxpull_async import Oxpull, TaskStatus
from oxpull_async.errors import InvalidArguments
from tests.app.kit import count, work

pytestmark = pytest.mark.asyncio
VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "values.json").read_text()
)


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: Decimal
    when: datetime | None = None


class Order(BaseModel):
    number: int
    placed: datetime
    lines: list[Point]


MOMENT = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))


async def take_datetime(value: datetime) -> datetime:
    assert isinstance(value, datetime)
    return value


async def take_date(value: date) -> date:
    assert type(value) is date
    return value


async def take_time(value: time) -> time:
    assert type(value) is time
    return value


async def take_timedelta(value: timedelta) -> timedelta:
    assert type(value) is timedelta
    return value


def take_decimal(value: Decimal) -> Decimal:
    assert type(value) is Decimal
    return value


def take_uuid(value: uuid.UUID) -> uuid.UUID:
    assert type(value) is uuid.UUID
    return value


def take_enum(value: Colour) -> Colour:
    assert value is Colour.RED
    return value


async def take_dataclass(value: Point) -> Point:
    assert type(value) is Point
    return value


async def take_model(value: Order) -> Order:
    assert type(value) is Order
    return value


async def take_list(value: list[Point | None]) -> dict[str, Point | None]:
    return {str(number): point for number, point in enumerate(value)}


POINT = Point(Decimal("1.10"), MOMENT)
TYPED: list[tuple[Callable[[Any], Any], Any]] = [
    (take_datetime, MOMENT),
    (take_datetime, datetime(1, 1, 1, tzinfo=UTC)),
    (take_date, date(9999, 12, 31)),
    (take_time, time(23, 59, 59, 999999)),
    (take_timedelta, timedelta(days=-1, microseconds=1)),
    (take_decimal, Decimal("1E+28")),
    (take_decimal, Decimal("-0.10")),
    (take_uuid, uuid.UUID(int=7)),
    (take_enum, Colour.RED),
    (take_dataclass, POINT),
    (take_model, Order(number=1, placed=MOMENT, lines=[POINT, Point(Decimal(2))])),
]


async def test_typed_arguments_and_return_values_make_the_round_trip(ox: Oxpull) -> None:
    results = await ox.enqueue_many([ox.task(function).call(value) for function, value in TYPED])
    listed = await ox.task(take_list).enqueue([POINT, None])
    await work(ox)
    for result, (_, value) in zip(results, TYPED, strict=True):
        await result.refresh()
        assert result.status is TaskStatus.SUCCESSFUL, result.errors
        assert (type(result.return_value), result.return_value) == (type(value), value)
    assert (await listed.wait()).return_value == {"0": POINT, "1": None}


async def test_a_typed_value_of_the_wrong_type_is_refused(ox: Oxpull) -> None:
    task: Any = ox.task(take_decimal)
    with pytest.raises(InvalidArguments, match=r"args\[0\]"):
        await task.enqueue("many")
    assert await count(ox) == 0


async def echo(value: Any) -> Any:
    return value


def given(vector: dict[str, Any]) -> Any:
    return eval(vector["python"]) if "python" in vector else vector["json"]  # noqa: S307 - our own file


def typed(value: Any) -> Any:
    """Make equality tell 1, 1.0 and True apart at every level."""
    if isinstance(value, list):
        return [typed(item) for item in value]
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return type(value), value


async def test_F2_every_accepted_vector_comes_back_through_a_worker(ox: Oxpull) -> None:
    task = ox.task(echo)
    vectors = [vector for vector in VECTORS["accepted"] if "depth 100" not in vector["note"]]
    values = [given(vector) for vector in vectors]
    single = [await task.enqueue(value) for value in values]
    bulk = await ox.enqueue_many([task.call(value=value) for value in values])
    await work(ox)
    for vector, value, result in zip(vectors * 2, values * 2, [*single, *bulk], strict=True):
        await result.refresh()
        expected = typed(vector.get("json", value))
        [stored] = [*result.args, *result.kwargs.values()]
        assert typed(stored) == expected, f"{vector['note']} as an argument"
        assert typed(result.return_value) == expected, f"{vector['note']} as a return value"


async def produce(number: int) -> Any:
    return given(VECTORS["accepted"][number])


async def test_F2_every_accepted_vector_may_be_a_return_value(ox: Oxpull) -> None:
    task, vectors = ox.task(produce), VECTORS["accepted"]
    results = await ox.enqueue_many([task.call(number) for number in range(len(vectors))])
    await work(ox)
    for vector, result in zip(vectors, results, strict=True):
        await result.refresh()
        assert typed(result.return_value) == typed(vector.get("json", given(vector))), vector["note"]


async def test_F2_every_refused_vector_is_refused_at_enqueue(ox: Oxpull) -> None:
    task = ox.task(echo)
    for vector in VECTORS["refused"]:
        with pytest.raises(InvalidArguments) as refused:
            await task.enqueue(given(vector))
        assert vector.get("says", "") in str(refused.value), vector["note"]
    assert await count(ox) == 0


async def broken(kind: str) -> Any:
    return {
        "object": object(),
        "nan": float("nan"),
        "infinity": [float("-inf")],
        "nul": {"text": "a\0b"},
        "surrogate": "\ud800",
        "large": "x" * 10_000_000,
        "deep": json.loads("[" * 101 + "]" * 101),
    }[kind]


async def test_F2_a_return_value_that_cannot_be_stored_fails_at_once_with_the_reason(ox: Oxpull) -> None:
    task = ox.task(broken)
    kinds = ("object", "nan", "infinity", "nul", "surrogate", "large", "deep")
    results = await ox.enqueue_many([*[task.call(kind) for kind in kinds], ox.task(echo).call(1)])
    await work(ox)
    for result in results:
        await result.refresh()
    *bad, good = results
    assert [(r.status, r.attempts) for r in bad] == [(TaskStatus.FAILED, 1)] * len(kinds)
    assert good.return_value == 1
    for kind, result in zip(kinds, bad, strict=True):
        assert "return_value" in result.errors[0].traceback, kind


TEXTS = {"NUL": "a\0b", "surrogate": "\ud800", "long": "ä" * 1_000_000}


async def shout(kind: str) -> None:
    raise RuntimeError(TEXTS[kind])


async def test_F2_a_failure_text_of_any_kind_is_made_storable(ox: Oxpull, caplog: pytest.LogCaptureFixture) -> None:
    task = ox.task(max_attempts=1)(shout)
    results = await ox.enqueue_many([task.call(kind) for kind in TEXTS])
    await work(ox)
    for result in results:
        await result.refresh()
        assert (result.status, result.errors[0].exception_class_path) == (TaskStatus.FAILED, "builtins.RuntimeError")
        assert len(result.errors[0].traceback.encode()) <= 16 * 1024
    assert len(caplog.text.encode()) < 16 * 1024, "a log takes what was raised"
