"""Functions that make a key of a task's arguments.

They are checked where they are declared, and guarded where they are called.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence

from oxpull_async.domain.errors import InvalidArguments, InvalidTask

MANY = 256
_ANY_NAME = "any_other_name"

type _Call = tuple[int, list[str]]


def checked_key(key: object) -> None:
    """Raise InvalidTask unless `key` is a callable that returns its key at once."""
    if not callable(key):
        raise InvalidTask(f"key={key!r} must be a function of the task's arguments that returns text")
    called = key.func if isinstance(key, functools.partial) else key
    if any(inspect.iscoroutinefunction(each) for each in (called, getattr(called, "__call__", None))):  # noqa: B004
        raise InvalidTask(f"key={named(key)} is a coroutine function: a key is computed at once, by a plain function")


def check_key_function(key: Callable[..., object], signature: inspect.Signature | None, where: str) -> None:
    """Raise InvalidTask unless `key` takes every call that fits the task's signature.

    Where either is not known, as for builtins and tasks known by name, the first call tells.
    """
    checked_key(key)
    wanted = _signature(key)
    if signature is None or wanted is None:
        return
    for given, names in _calls(signature):
        try:
            wanted.bind(*[None] * given, **dict.fromkeys(names))
        except TypeError as misfit:
            raise InvalidTask(
                f"{where}: the key function {named(key)} cannot take the task's arguments: {misfit} when the task is "
                f"called as ({', '.join([*['…'] * min(given, 9), *[f'{name}=…' for name in names]])}). "
                f"Declare it with the task's own parameters: {signature.replace(return_annotation=signature.empty)}"
            ) from None


def key_text(key: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object], where: str) -> str:
    """Call a key function with the arguments as the caller passed them.

    Raises: InvalidArguments when it raises, or returns something else than text.
    """
    try:
        text = key(*args, **kwargs)
    except Exception as error:
        raise InvalidArguments(f"{where}: the key function {named(key)} raised {error!r}; nothing written") from error
    if isinstance(text, str):
        return text
    if inspect.iscoroutine(text):
        text.close()
    raise InvalidArguments(f"{where}: the key function {named(key)} returned {text!r:.80}, not text; nothing written")


def named(key: object) -> str:
    """Return what a reader would call the function."""
    name: str = getattr(key, "__qualname__", None) or repr(key)
    return name


def _calls(signature: inspect.Signature) -> Iterator[_Call]:
    """List the extreme calls that fit: as few and as many by position, each with all options and with none.

    Whatever takes these takes every call: more positions or names than the least cannot leave a parameter out, and
    fewer than the most cannot name one twice.
    """
    parameters = signature.parameters.values()
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    extra = [_ANY_NAME] if any(p.kind is p.VAR_KEYWORD for p in parameters) else []
    least = sum(p.kind is p.POSITIONAL_ONLY and p.default is p.empty for p in places)
    for given in range(least, len(places) + 1):
        rest = [p for p in [*places[given:], *names] if p.kind is not p.POSITIONAL_ONLY]
        yield given, [p.name for p in rest if p.default is p.empty]
        yield given, [p.name for p in rest] + extra
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        yield len(places) + MANY, [p.name for p in names if p.default is p.empty]


def _signature(key: Callable[..., object]) -> inspect.Signature | None:
    try:
        return inspect.signature(key)
    except (TypeError, ValueError):
        return None
