"""A key function is taken only if it takes every call of the task."""

import inspect
import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oxpull_async.domain.errors import InvalidArguments, InvalidTask
from oxpull_async.domain.key_functions import check_key_function, checked_key, key_text

KINDS = list(inspect._ParameterKind)
STARS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
OTHER = "any_other_name"


def send(order: int, note: str = "") -> None:
    pass


TASK = inspect.signature(send).replace(return_annotation=inspect.Signature.empty)


@st.composite
def signatures(draw: st.DrawFn) -> inspect.Signature:
    """Make a signature of up to three parameters, named out of a few."""
    names = draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True))
    kinds = sorted(draw(st.lists(st.sampled_from(KINDS), min_size=len(names), max_size=len(names))))
    optional = draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    parameters = [
        inspect.Parameter(name, kind, default=None if may and kind not in STARS else inspect.Parameter.empty)
        for name, kind, may in zip(names, kinds, optional, strict=True)
    ]
    try:
        return inspect.Signature(parameters)
    except ValueError:
        assume(False)
        raise


def fits(signature: inspect.Signature, given_: int, names: tuple[str, ...]) -> bool:
    try:
        signature.bind(*[None] * given_, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def calls(task: inspect.Signature) -> Iterator[tuple[int, tuple[str, ...]]]:
    """List all calls of up to five arguments that fit a task."""
    named = [p.name for p in task.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for count in range(len(named) + 2):
        for names in itertools.combinations([*named, OTHER], count):
            yield from ((given_, names) for given_ in range(6) if fits(task, given_, names))


def spelled(signature: inspect.Signature) -> Any:
    def key(*_: object, **__: object) -> str:
        return ""

    key.__signature__ = signature  # type: ignore[attr-defined]
    return key


@given(task=signatures(), key=signatures())
def test_a_key_function_is_taken_exactly_if_it_takes_every_call_of_the_task(
    task: inspect.Signature, key: inspect.Signature
) -> None:
    takes_all = all(fits(key, *call) for call in calls(task))
    try:
        check_key_function(spelled(key), task, "shop.send")
    except InvalidTask:
        assert not takes_all
    else:
        assert takes_all


class Coroutine:
    async def __call__(self, *_: object) -> str:
        return ""


async def coroutine(order: int, note: str = "") -> str:
    return ""


@pytest.mark.parametrize("key", [coroutine, Coroutine(), partial(coroutine)])
def test_a_coroutine_is_no_key_function(key: Any) -> None:
    with pytest.raises(InvalidTask, match="is a coroutine function: a key is computed at once"):
        checked_key(key)


@pytest.mark.parametrize("key", ["order", 1, True])
def test_what_cannot_be_called_is_no_key_function(key: Any) -> None:
    with pytest.raises(InvalidTask, match="must be a function of the task's arguments that returns text"):
        checked_key(key)


def test_a_misfit_is_named_with_the_call_and_the_way_out() -> None:
    def by_order(number: int) -> str:
        return ""

    with pytest.raises(InvalidTask) as refused:
        check_key_function(by_order, TASK, "shop.tasks.send")
    text = str(refused.value)
    assert text.startswith("shop.tasks.send: the key function ")
    assert "by_order cannot take the task's arguments" in text
    assert "when the task is called as (order=…)" in text
    assert text.endswith("Declare it with the task's own parameters: (order: int, note: str = '')")


def test_a_function_without_a_signature_is_taken_at_its_word() -> None:
    check_key_function(max, TASK, "shop.tasks.send")


@pytest.mark.parametrize("value", [None, 1, b"text", ["text"]])
def test_a_key_that_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArguments, match=r"returned .*, not text; nothing written"):
        key_text(lambda: value, (), {}, "shop.tasks.send")


def test_a_coroutine_that_comes_out_of_a_key_function_is_closed_and_refused() -> None:
    with pytest.raises(InvalidArguments, match=r"returned <coroutine object .*, not text"):
        key_text(lambda: coroutine(1), (), {}, "shop.tasks.send")


def test_an_error_of_a_key_function_is_chained() -> None:
    with pytest.raises(InvalidArguments, match=r"^shop: the key function .* raised KeyError\('order'\)") as no:
        key_text({}.__getitem__, ("order",), {}, "shop")
    assert isinstance(no.value.__cause__, KeyError)
