"""Tasks of every shape that Django knows."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from django.tasks import TaskContext, task

from compat_sync.tasks import PolicyTask
from compat_sync.unique import unique
from tests.compat.promises.shop import ours

type AnyContext = TaskContext[..., Any]


class Unreadable(Exception):
    """An error whose text cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError


@ours
@task
def nothing(*_args: Any, **_kwargs: Any) -> None:
    """Do nothing."""


@ours
@task
async def nothing_async(*_args: Any, **_kwargs: Any) -> None:
    """Do nothing, as a coroutine."""


@ours
@task()
def bracketed() -> None:
    """Do nothing; declared with brackets."""


@ours
@task
def answer() -> int:
    """Return a number."""
    return 42


@ours
@task
async def answer_async() -> int:
    """Return a number, as a coroutine."""
    return 42


@ours
@task
def echo(value: Any) -> Any:
    """Return what it was given."""
    return value


@ours
@task
def fail(text: str) -> None:
    """Raise an error."""
    raise ValueError(text)


@ours
@task
async def fail_async(text: str) -> None:
    """Raise an error, as a coroutine."""
    raise ValueError(text)


@ours
@task
def fail_within(text: str) -> None:
    """Raise an error that holds another one, from a third."""
    try:
        dict[str, str]()[text]
    except KeyError as first:
        raise ValueError(ValueError(text)) from first


@ours
@task
def leave(text: str) -> None:
    """Ask the process to end."""
    raise SystemExit(text)


@ours
@task
def fail_unreadably() -> None:
    """Raise an error whose text cannot be made."""
    raise Unreadable


@ours
@task
def return_no_json() -> object:
    """Return what cannot be stored."""
    return fail


@ours
@task(takes_context=True)
def who(context: AnyContext) -> list[Any]:
    """Tell what the context says."""
    return [context.task_result.id, context.attempt, context.task_result.args]


@ours
@task(takes_context=True)
async def who_async(context: AnyContext, number: int = 0) -> list[Any]:
    """Tell what the context says, as a coroutine."""
    return [context.task_result.id, context.attempt, number]


@ours
@task(priority=10, queue_name="mail", takes_context=True)
def declared(context: AnyContext) -> None:
    """Do nothing; declared with every keyword of Django's."""


@ours
@unique
@task
def once(_number: int) -> None:
    """Do nothing, once at a time."""


def plain_function(number: int) -> int:
    """Be no task yet."""
    return number


async def plain_coroutine(number: int) -> int:
    """Be no task yet, as a coroutine."""
    return number


def generator() -> Iterator[int]:
    """Yield numbers."""
    yield 1


async def async_generator() -> AsyncIterator[int]:
    """Yield numbers, as a coroutine would."""
    yield 1


def mentions_context(number: int, context: Any = None) -> int:
    """Take a context, but not first."""
    return number


def of(function: Any, **options: Any) -> PolicyTask:
    """Declare a task as Django does it."""
    return ours(task(**options)(function))
