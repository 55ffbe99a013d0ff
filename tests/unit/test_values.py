"""Values: what is stored, what is refused, and what comes back."""

import enum
import json
import math
import re
from collections import UserDict, UserList, deque, namedtuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.errors import InvalidArguments, InvalidPayload
from oxpull_async.domain.values import (
    JsonValue,
    canonical_json,
    decode,
    encode,
    encode_payload,
    normalise,
    normalise_call,
    path_text,
    show,
    to_json,
)

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "values.json").read_text()
)
MEBIBYTE = 1_048_576

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | floats | texts
json_values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20)


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Shouting(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Unreadable(UserList[int]):
    def __iter__(self) -> Any:
        raise RuntimeError("broken")


Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - the plainest subclass of tuple


def typed(value: object) -> object:
    """Make equality tell 1, 1.0 and True apart, and 0.0 from nothing else."""
    if isinstance(value, list):
        return [typed(item) for item in value]
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return type(value), value


def evaluated(expression: str) -> object:
    return eval(expression)  # noqa: S307 - our own vector file


@pytest.mark.parametrize("vector", VECTORS["accepted"], ids=lambda vector: vector["note"])
def test_an_accepted_vector_comes_back_from_its_text(vector: dict[str, Any]) -> None:
    value = evaluated(vector["python"]) if "python" in vector else vector["json"]
    text = encode(value, path="args", max_bytes=MEBIBYTE)
    assert typed(decode(text)) == typed(vector.get("json", value))


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda vector: vector["note"])
def test_a_refused_vector_names_its_rule(vector: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments, match=re.escape(vector["says"])):
        encode(evaluated(vector["python"]), path="args", max_bytes=MEBIBYTE)


@given(json_values)
def test_every_json_value_comes_back_with_its_types(value: JsonValue) -> None:
    assert typed(decode(encode(value, path="args", max_bytes=MEBIBYTE))) == typed(normalise(value)) == typed(value)


@given(json_values)
def test_normalise_is_idempotent(value: JsonValue) -> None:
    assert typed(normalise(normalise(value))) == typed(normalise(value))


@given(json_values)
def test_stored_text_is_ascii_and_says_the_same_to_the_standard_library(value: JsonValue) -> None:
    text = to_json(value)
    assert text.isascii()
    assert typed(json.loads(text)) == typed(value)


@given(st.lists(floats | floats.map(lambda value: value * 1e200).filter(math.isfinite)))
def test_a_number_keeps_its_kind_where_only_its_digits_are_kept(values: list[float]) -> None:
    """PostgreSQL's jsonb stores 1e+16 as the integer 10000000000000000, and 1.0 as 1.0."""
    tokens = [token for token in to_json(list(values))[1:-1].split(",") if token]
    for token, value in zip(tokens, values, strict=True):
        assert float(token) == value
        if abs(value) >= 1e16:
            assert "e" not in token
        assert "." in token or "e-" in token


@given(st.lists(texts, min_size=1), st.floats(1e16, 1e300))
def test_texts_beside_big_floats_stay_as_they_are(values: list[str], big: float) -> None:
    mixed: list[JsonValue] = [*values, big, {"e+": big, '"1e+20': '\\"1e+20'}]
    assert typed(decode(to_json(mixed))) == typed(mixed)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Colour.RED, "red"),
        (Level.LOW, 1),
        (Shouting("x"), "x"),
        (True, True),
        (Pair(1, 2), [1, 2]),
        (deque([1]), [1]),
        (UserList([1, "x"]), [1, "x"]),
        (UserDict({"a": (1,)}), {"a": [1]}),
        ({Level.LOW: 1, Colour.RED: 2}, {"1": 1, "red": 2}),
    ],
)
def test_subclasses_and_foreign_containers_become_plain(value: object, plain: JsonValue) -> None:
    assert typed(normalise([value])) == typed([plain])


def test_the_normalised_value_shares_no_container_with_the_callers() -> None:
    inner: list[object] = [1]
    normalised = normalise({"a": inner, "b": [inner]})
    inner.append(2)
    assert normalised == {"a": [1], "b": [[1]]}


def test_a_refusal_names_the_path_the_value_and_the_way_out() -> None:
    with pytest.raises(InvalidArguments) as refusal:
        normalise([1, 2, {"when": {"items": [{1, 2}]}}], path="args")
    assert str(refusal.value).startswith('args[2]["when"]["items"][0]: {1, 2} is of type set')
    assert "annotation" in str(refusal.value)


def test_a_refusal_in_keyword_arguments_names_the_keyword() -> None:
    with pytest.raises(InvalidArguments, match=r'^kwargs\["n"\]\[0\]: nan'):
        normalise_call([], {"n": [math.nan]})


def test_a_call_without_keywords_is_normalised_to_two_containers() -> None:
    assert normalise_call((1, (2,)), {}) == ([1, [2]], {})


def test_two_keys_that_become_equal_are_refused_by_their_text() -> None:
    with pytest.raises(InvalidArguments, match=r"args\[0\]: .* has two keys that both become '1'"):
        normalise([{1: "a", "1": "b"}])


@pytest.mark.parametrize(
    "make",
    [lambda inner: [inner], lambda inner: {"k": inner}, lambda inner: UserList([inner])],
    ids=["list", "dict", "sequence"],
)
def test_a_value_that_holds_itself_is_too_deep(make: Any) -> None:
    cyclic: list[object] = []
    cyclic.append(make(cyclic))
    with pytest.raises(InvalidArguments, match="100 levels"):
        normalise(cyclic)


def test_a_container_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InvalidArguments, match=r"args\[0\].* cannot be read: RuntimeError: 'broken'"):
        normalise([Unreadable([1])])


def test_a_value_without_a_repr_is_refused_by_its_type() -> None:
    with pytest.raises(InvalidArguments, match=r"^args\[0\]: .*Unprintable.* is of type"):
        normalise([Unprintable()])


def test_a_ten_megabyte_text_is_refused_in_a_short_message() -> None:
    with pytest.raises(
        InvalidArguments, match=r"10485764 bytes of JSON, and at most 1048576 .* max_payload_bytes"
    ) as it:
        encode(["x" * 10_485_760], path="args", max_bytes=MEBIBYTE)
    assert len(str(it.value)) < 300


def test_the_limit_counts_the_bytes_of_the_text() -> None:
    assert encode("x" * 98, path="args", max_bytes=100) == f'"{"x" * 98}"'
    with pytest.raises(InvalidArguments, match="101 bytes"):
        encode("x" * 99, path="args", max_bytes=100)


def test_a_payload_is_refused_by_its_own_error() -> None:
    with pytest.raises(InvalidPayload, match=r"^return_value: nan"):
        encode_payload(math.nan, path="return_value", max_bytes=100)


@given(st.from_type(object) | st.binary() | st.text() | st.integers() | st.lists(st.text()))
def test_any_value_is_shown_in_at_most_eighty_characters(value: object) -> None:
    shown = show(value)
    assert len(shown) <= 80
    shown.encode()


def test_long_keys_are_shortened_in_paths() -> None:
    assert path_text("args", 0, "k" * 1000) == f'args[0]["{"k" * 40}..."]'


@given(json_values)
def test_canonical_text_is_the_standard_librarys(value: JsonValue) -> None:
    assert canonical_json(value) == json.dumps(value, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("text", ["[]", "{}"])
def test_decoded_empties_are_fresh_each_time(text: str) -> None:
    assert decode(text) is not decode(text)


@pytest.mark.parametrize(("text", "value"), [("[Infinity]", [math.inf]), ('"\\ud800"', "\ud800"), ("1e999", math.inf)])
def test_rows_that_other_programs_wrote_stay_readable(text: str, value: object) -> None:
    assert decode(text) == value


def test_only_normalised_values_are_written() -> None:
    with pytest.raises(TypeError, match="has not been normalised"):
        to_json([object()])  # type: ignore[list-item]
