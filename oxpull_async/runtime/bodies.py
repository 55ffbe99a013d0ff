"""From a claimed row to the call of its function, and from what it returned to the outcome."""

from collections.abc import Callable
from functools import partial
from typing import Any

from oxpull_async.domain.batch import BatchInfo
from oxpull_async.domain.errors import InvalidArguments, InvalidPayload
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.values import decode, encode_normalised
from oxpull_async.runtime.attempts import Attempt

NOTHING = Succeeded("null")


def bound_body(attempt: Attempt, *first: object) -> Callable[[], Any]:
    """Return the attempt's function bound to its stored arguments, after those given here."""
    args, kwargs = stored_arguments(attempt)
    return partial(attempt.body.function, *first, *args, **kwargs)


def stored_arguments(attempt: Attempt) -> tuple[list[object], dict[str, object]]:
    """Return the attempt's stored arguments as its function takes them.

    Raises: InvalidPayload where they do not fit the function any more.
    """
    claimed = attempt.claimed
    try:
        return attempt.runnable.body.codec.decode(decode(claimed.args), decode(claimed.kwargs))  # type: ignore[arg-type]
    except InvalidArguments as misfit:
        raise InvalidPayload(f"the stored arguments no longer fit the function: {misfit}") from misfit


def batch_of(attempt: Attempt) -> BatchInfo:
    """Return what a body that takes its batch is given.

    Raises: InvalidPayload where there is none.
    """
    if attempt.batch is None:
        raise InvalidPayload("the function takes its batch, and the task is of none that still exists")
    return attempt.batch


def success(attempt: Attempt, value: object, max_bytes: int) -> Succeeded:
    """Return the outcome of a function that returned.

    Raises: InvalidPayload for a value that cannot be stored.
    """
    if value is None:
        return NOTHING
    try:
        plain = attempt.body.codec.encode_return(value)
        return Succeeded(encode_normalised(plain, path="return_value", max_bytes=max_bytes))
    except InvalidArguments as refused:
        raise InvalidPayload(str(refused)) from None
    except Exception as broken:
        raise InvalidPayload("the return value could not be turned into JSON") from broken
