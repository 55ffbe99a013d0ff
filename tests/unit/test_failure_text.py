"""Texts about failures: always storable, never larger than their limit."""

import re
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.failure_text import describe_exception, storable_text

any_text = st.text(st.characters(exclude_categories=[]))


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Hostile(Exception):
    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]
        raise RuntimeError("no notes")

    @property
    def __cause__(self) -> Self:  # type: ignore[override]
        raise RuntimeError("no cause")


def raised(error: BaseException) -> BaseException:
    try:
        raise error  # noqa: TRY301 - for its traceback
    except BaseException as caught:  # noqa: BLE001 - handed back
        return caught


@given(any_text, st.integers(0, 300))
def test_any_text_becomes_storable_within_its_limit(text: str, limit: int) -> None:
    data = storable_text(text, limit).encode()
    assert len(data) <= limit
    assert b"\0" not in data


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=100))
def test_storable_text_that_fits_is_left_alone(text: str) -> None:
    assert storable_text(text) == text


def test_nul_and_lone_surrogates_are_spelled_out() -> None:
    assert storable_text("a\0b\ud800c") == "a\\x00b\\ud800c"


@pytest.mark.parametrize("letter", ["x", "ü", "世", "🌍"])
def test_a_long_text_keeps_head_and_tail_and_says_how_much_was_cut(letter: str) -> None:
    text = f"HEAD{letter * 50_000}TAIL"
    short = storable_text(text)
    assert short.startswith("HEAD")
    assert short.endswith("TAIL")
    assert 16_000 < len(short.encode()) <= 16 * 1024
    marker = re.search(r"\n\[\.\.\. (\d+) bytes cut \.\.\.\]\n", short)
    assert marker is not None
    assert int(marker[1]) == len(text.encode()) - len(short.encode()) + len(marker[0])


def test_an_exception_is_described_by_class_path_and_traceback() -> None:
    path, text = describe_exception(raised(ValueError("wrong number")))
    assert path == "builtins.ValueError"
    assert text.startswith("Traceback")
    assert text.endswith("ValueError: wrong number\n")


@pytest.mark.parametrize("error", [Mute(), Hostile("x"), ExceptionGroup("many", [Mute(), ValueError("\0\udc80")])])
def test_an_exception_whose_methods_raise_is_described_all_the_same(error: Exception) -> None:
    path, text = describe_exception(raised(error))
    assert path.endswith(type(error).__qualname__)
    assert type(error).__name__ in text
    assert "\0" not in text
    text.encode()


def test_a_member_of_a_group_is_named() -> None:
    _, text = describe_exception(raised(ExceptionGroup("many", [KeyError("k"), ValueError("v")])))
    assert "KeyError: 'k'" in text
    assert "ValueError: v" in text


def test_causes_that_go_round_in_a_circle_end() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    _, text = describe_exception(first)
    assert "first" in text


def test_a_long_chain_of_causes_ends() -> None:
    error = ValueError("0")
    for number in range(5000):
        outer = ValueError(str(number))
        outer.__cause__ = error
        error = outer
    path, text = describe_exception(error)
    assert path == "builtins.ValueError"
    assert len(text.encode()) <= 16 * 1024


def test_an_enormous_message_is_cut_and_its_end_stays() -> None:
    _, text = describe_exception(raised(ValueError("x" * 5_000_000 + "END")))
    assert len(text.encode()) <= 16 * 1024
    assert text.endswith("END\n")
