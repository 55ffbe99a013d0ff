"""Typed arguments and return values: checked at enqueue, the same again in the worker."""

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType
from zoneinfo import ZoneInfo

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.annotations import ArgumentCodec, compile_annotation
from oxpull_async.domain.errors import InvalidArguments, InvalidPayload
from oxpull_async.domain.type_codecs import PLAIN
from oxpull_async.domain.values import decode, normalise, to_json

if TYPE_CHECKING:
    from nowhere_at_runtime import Unknown  # type: ignore[import-not-found]

WHEN = dt.datetime(2026, 3, 29, 2, 30, 0, 123456, tzinfo=dt.UTC)
ID = uuid.UUID("0190a6b2-7c1e-7000-8000-000000000001")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Shape(enum.Enum):
    DOT = (1, 1)
    BAR = (1, 9)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass(frozen=True)
class Line:
    amount: decimal.Decimal
    places: tuple[int, ...] = ()
    counts: dict[int, str] = dataclasses.field(default_factory=dict)
    raw: bytes = b""


@dataclasses.dataclass
class Order:
    id: uuid.UUID
    lines: list[Line]
    parent: "Order | None" = None
    tags: set[str] = dataclasses.field(default_factory=set)
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        self.total = len(self.lines)


@dataclasses.dataclass
class LargeOrder(Order):
    discount: float = 0.5


@dataclasses.dataclass
class Left:
    n: int


@dataclasses.dataclass
class Right:
    n: int


@dataclasses.dataclass
class Checked:
    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError("n is negative")


class Customer(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, extra="forbid")
    name: str = pydantic.Field(alias="fullName")
    since: dt.date


class Partner(Customer):
    level: int


type Moments = list[dt.datetime]
type Tree = dt.date | list[Tree]
UserId = NewType("UserId", uuid.UUID)


def codec_for(annotation: object) -> ArgumentCodec:
    def function(value: Any) -> Any: ...

    function.__annotations__ = {"value": annotation, "return": annotation}
    return ArgumentCodec.for_function(function, skip_first=False)


def stored(codec: ArgumentCodec, *args: object, **kwargs: object) -> tuple[list[object], dict[str, object]]:
    """Send arguments to the worker, by way of their stored text."""
    plain_args, plain_kwargs = codec.encode(args, kwargs)
    return codec.decode(json.loads(to_json(plain_args)), json.loads(to_json(normalise(plain_kwargs))))


ROUND_TRIPS: list[tuple[object, object]] = [
    (dt.datetime, WHEN),
    (dt.datetime, dt.datetime(2026, 1, 1, 12, 0)),  # noqa: DTZ001 - naive on purpose
    (dt.datetime, dt.datetime.min),  # noqa: DTZ901 - the same
    (dt.datetime, dt.datetime(1850, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))),
    (dt.date, dt.date(2026, 2, 28)),
    (dt.time, dt.time(23, 59, 59, 999999)),
    (dt.timedelta, dt.timedelta(days=-3, microseconds=1)),
    (decimal.Decimal, decimal.Decimal("1.10")),
    (decimal.Decimal, decimal.Decimal("1E+500")),
    (uuid.UUID, ID),
    (UserId, ID),
    (Colour, Colour.RED),
    (Shape, Shape.BAR),
    (Level, Level.HIGH),
    (Rights, Rights.READ | Rights.WRITE),
    (Literal[Colour.RED], Colour.RED),
    (Line, Line(decimal.Decimal("0.30"), (1, 2), {1: "a"}, b"x")),
    (Order, Order(ID, [Line(decimal.Decimal(1))], Order(ID, []), {"x"})),
    (Customer, Customer(fullName="Ada", since=dt.date(2020, 1, 1))),
    (Customer | None, None),
    (Customer | str, Customer(fullName="Ada", since=dt.date(2020, 1, 1))),
    (list[Customer], [Customer(fullName="Ada", since=dt.date(2020, 1, 1))]),
    (dt.datetime | None, WHEN),
    (dt.datetime | None, None),
    (dt.date | dt.datetime, WHEN),
    (dt.datetime | dt.date, dt.date(2026, 1, 1)),
    (str | dt.datetime, "hello"),
    (str | dt.datetime, WHEN),
    (int | decimal.Decimal, 5),
    (float | decimal.Decimal, 1.5),
    (bool | uuid.UUID, True),
    (Colour | str, "green"),
    (Order | Left, Left(1)),
    (list[dt.date] | dt.date, [dt.date(2026, 1, 1)]),
    (list[dt.datetime], [WHEN]),
    (Sequence[dt.datetime], [WHEN]),
    (Moments, [WHEN]),
    (Annotated[dt.datetime, "due"], WHEN),
    (tuple[dt.date, int], (dt.date(2026, 1, 1), 1)),
    (tuple[dt.date, ...], (dt.date(2026, 1, 1),)),
    (set[uuid.UUID], {ID}),
    (dict[str, dt.datetime], {"a": WHEN}),
    (Mapping[str, list[Order]], {"a": [Order(ID, [])]}),
    (dict[uuid.UUID, Level], {ID: Level.LOW}),
    (dict[Level, dt.date], {Level.LOW: dt.date(2026, 1, 1)}),
    (dict[int, dt.date], {1: dt.date(2026, 1, 1)}),
    (dict[str, dt.date] | None, {"1": dt.date(2026, 1, 1)}),
]


@pytest.mark.parametrize(("annotation", "value"), ROUND_TRIPS, ids=map(str, range(len(ROUND_TRIPS))))
def test_an_annotated_argument_makes_the_round_trip(annotation: object, value: object) -> None:
    (back,), _ = stored(codec_for(annotation), value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(("annotation", "value"), ROUND_TRIPS, ids=map(str, range(len(ROUND_TRIPS))))
def test_an_annotated_return_value_makes_the_round_trip(annotation: object, value: object) -> None:
    codec = codec_for(annotation)
    back = codec.decode_return(decode(to_json(codec.encode_return(value))))
    assert back == value
    assert type(back) is type(value)


@given(st.datetimes() | st.datetimes(timezones=st.timezones()))
def test_every_datetime_comes_back_as_the_same_instant(value: dt.datetime) -> None:
    codec = codec_for(dt.datetime)
    try:
        (back,), _ = stored(codec, value)
    except InvalidArguments:
        assert value.year in {1, 9999}  # an instant outside the calendar
        return
    assert isinstance(back, dt.datetime)
    assert (back.tzinfo is None) == (value.tzinfo is None)
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC)
    assert back == value


@given(st.timedeltas(), st.decimals(allow_nan=False), st.times())
def test_every_duration_decimal_and_time_comes_back(
    duration: dt.timedelta, number: decimal.Decimal, moment: dt.time
) -> None:
    def function(a: dt.timedelta, b: decimal.Decimal, c: dt.time) -> None: ...

    codec = ArgumentCodec.for_function(function, skip_first=False)
    assert stored(codec, duration, number, moment) == ([duration, number, moment], {})


def test_star_arguments_are_converted_as_they_are_annotated() -> None:
    def function(first: int, *days: dt.date, key: uuid.UUID, **more: decimal.Decimal) -> None: ...

    codec = ArgumentCodec.for_function(function, skip_first=False)
    day = dt.date(2026, 1, 1)
    args, kwargs = stored(codec, 1, day, day, key=ID, x=decimal.Decimal("1.5"))
    assert (args, kwargs) == ([1, day, day], {"key": ID, "x": decimal.Decimal("1.5")})


def test_the_context_parameter_is_not_the_callers() -> None:
    def function(context: object, when: dt.date) -> None: ...

    codec = ArgumentCodec.for_function(function, skip_first=True)
    assert stored(codec, dt.date(2026, 1, 1)) == ([dt.date(2026, 1, 1)], {})
    with pytest.raises(InvalidArguments, match="missing a required argument: 'when'"):
        codec.encode([], {})
    with pytest.raises(InvalidArguments, match="'context' is passed by the worker"):
        codec.encode([dt.date(2026, 1, 1)], {"context": 1})


def plain(a: int, b: str = "x", /, c: int = 0, *, d: int = 0) -> None: ...


def named(a: int, *, b: int) -> None: ...


def starred(*args: int, b: int) -> None: ...


def positional(a: int, b: int, /) -> None: ...


def open_ended(a: int, /, *args: int, **kwargs: int) -> None: ...


CALLS: list[tuple[Callable[..., None], tuple[int, ...], dict[str, int]]] = [
    (function, tuple(range(count)), dict.fromkeys(names, 1))
    for function in (plain, named, starred, positional, open_ended)
    for count in range(5)
    for names in ([], ["a"], ["b"], ["c"], ["d"], ["a", "b"], ["c", "d"], ["e"])
]


@pytest.mark.parametrize(("function", "args", "kwargs"), CALLS, ids=map(str, range(len(CALLS))))
def test_a_call_is_accepted_exactly_if_python_accepts_it(
    function: Callable[..., None], args: tuple[int, ...], kwargs: dict[str, int]
) -> None:
    codec = ArgumentCodec.for_function(function, skip_first=False)
    try:
        function(*args, **kwargs)
    except TypeError:
        with pytest.raises(InvalidArguments, match=rf"test_annotations\.{function.__name__}: .*Call it as \("):
            codec.encode(args, kwargs)
    else:
        assert codec.encode(args, kwargs) == (list(args), kwargs)


@pytest.mark.parametrize(
    ("annotation", "value", "path"),
    [
        (dt.datetime, "yesterday", "args[0]"),
        (dt.datetime, 5, "args[0]"),
        (dt.date, WHEN, "args[0]"),
        (list[dt.datetime], [WHEN, "x"], "args[0][1]"),
        (dict[str, dt.date], {"a": 1}, 'args[0]["a"]'),
        (Order, {"id": str(ID)}, "args[0]"),
        (Order, LargeOrder(ID, []), "args[0]"),
        (Order, Order(ID, [Line(1.5, counts={1: object()})]), 'args[0]["lines"][0]["counts"]["1"]'),  # type: ignore[arg-type,dict-item]
        (Customer, Partner(fullName="Ada", since=dt.date(2020, 1, 1), level=1), "args[0]"),
        (Customer, {"fullName": "Ada"}, "args[0]"),
        (Checked, {"n": -1}, "args[0]"),
        (Colour, "green", "args[0]"),
        (Shape, "dot", "args[0]"),
        (decimal.Decimal, decimal.Decimal("sNaN"), "args[0]"),
        (str | dt.datetime, "2026-01-01T00:00:00", "args[0]"),
        (Left | Right, Right(1), "args[0]"),
        (tuple[dt.date, int], (dt.date(2026, 1, 1),), "args[0]"),
        (list[dt.date], 5, "args[0]"),
        (dt.date | None, 5, "args[0]"),
        (int, WHEN, "args[0]"),
        (list[dt.datetime], {WHEN: 1}, "args[0]"),
    ],
    ids=map(str, range(21)),
)
def test_what_would_not_come_back_is_refused_at_enqueue_by_its_path(
    annotation: object, value: object, path: str
) -> None:
    with pytest.raises(InvalidArguments) as refusal:
        codec_for(annotation).encode([value], {})
    assert str(refusal.value).startswith(f"{path}: ")


def test_a_return_value_that_would_not_come_back_is_refused_as_a_payload() -> None:
    with pytest.raises(InvalidPayload, match=r"^return_value: 'x' is no datetime"):
        codec_for(dt.datetime).encode_return("x")
    with pytest.raises(InvalidPayload, match=r"^return_value\[0\]: nan"):
        codec_for(int).encode_return([float("nan")])


def test_text_of_an_annotated_type_is_accepted_as_it_is_stored() -> None:
    """Rows by name, and rows that Django wrote, hold the text."""
    assert stored(codec_for(dt.datetime), "2026-03-29T02:30:00.123456Z") == ([WHEN], {})


def test_a_worker_with_older_code_ignores_fields_it_does_not_know() -> None:
    codec = codec_for(Line)
    assert codec.decode([{"amount": "1", "added_later": 1}], {}) == ([Line(decimal.Decimal(1))], {})


def test_plain_parameters_pass_untouched_in_the_worker() -> None:
    codec = codec_for(dict[str, list[tuple[int, ...]]])
    args: list[Any] = [{"a": [[1]]}]
    kwargs: dict[str, Any] = {}
    decoded = codec.decode(args, kwargs)
    assert decoded[0] is args
    assert decoded[1] is kwargs


def test_an_annotation_that_does_not_resolve_leaves_the_others_in_force() -> None:
    def function(a: "Unknown", when: "dt.datetime") -> "Unknown": ...

    codec = ArgumentCodec.for_function(function, skip_first=False)
    assert stored(codec, {"x": 1}, WHEN) == ([{"x": 1}, WHEN], {})


def test_an_annotation_may_name_a_class_defined_further_down() -> None:
    def function(value: "Later") -> None: ...

    codec = ArgumentCodec.for_function(function, skip_first=False)
    assert stored(codec, Later(dt.date(2026, 1, 1))) == ([Later(dt.date(2026, 1, 1))], {})


@dataclasses.dataclass
class Later:
    day: dt.date


def test_a_recursive_alias_ends() -> None:
    assert stored(codec_for(Tree), dt.date(2026, 1, 1)) == ([dt.date(2026, 1, 1)], {})


def test_a_callable_without_a_signature_takes_any_json() -> None:
    assert stored(ArgumentCodec.for_function(max, skip_first=False), 1, 2) == ([1, 2], {})


@pytest.mark.parametrize("annotation", [int, str, None, Any, dict, list[int], "text", 5, ..., Callable])
def test_annotations_that_json_expresses_are_not_special(annotation: object) -> None:
    assert not compile_annotation(annotation).special


def test_an_unknown_class_is_plain() -> None:
    assert compile_annotation(object) is PLAIN
