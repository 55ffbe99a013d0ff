"""Find out whether an ENGINE of others connects as its DATABASES entry says."""

from collections.abc import Mapping
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

__all__ = ["engine_problems"]

_DJANGO = "django."
_PREPARING = ("_cursor", "connect", "init_connection_state")
_PYTHON_SIDE = frozenset({"context", "conv", "cursor_factory", "cursorclass", "detect_types", "factory"})
_WAY_OUT = (
    "Use Django's own ENGINE for the alias that has the tasks, or leave this one out where tasks are to use the native "
    "driver"
)


def engine_problems(alias: str, entry: Mapping[str, Any], engine: type[BaseDatabaseWrapper]) -> tuple[str, ...]:
    """List what an engine of others does on the way to the server, without a connection."""
    doing = [
        f"prepares each connection or cursor in {owner.__module__}.{owner.__qualname__}.{name}"
        for name in _PREPARING
        if not (owner := _owner(engine, name)).__module__.startswith(_DJANGO)
    ]
    if not _owner(engine, "get_connection_params").__module__.startswith(_DJANGO):
        doing += _computed(alias, entry, engine)
    return tuple(
        f"DATABASES[{alias!r}]['ENGINE'] is {entry['ENGINE']!r}, which {what}; the native driver would not. {_WAY_OUT}."
        for what in doing
    )


def _owner(engine: type[BaseDatabaseWrapper], name: str) -> type:
    return next(cls for cls in engine.__mro__ if name in vars(cls))


def _computed(alias: str, entry: Mapping[str, Any], engine: type[BaseDatabaseWrapper]) -> list[str]:
    """Say which parameters the engine makes itself."""
    wrapper = engine({**entry}, alias)
    djangos: Any = next(cls for cls in engine.__mro__ if cls.__module__.startswith(_DJANGO))
    try:
        theirs = dict(wrapper.get_connection_params())
    except Exception as error:  # noqa: BLE001 - it may ask a cloud for a password, and fail in any way
        return [f"makes the parameters of its connections itself ({type(error).__name__})"]
    plain = dict(djangos.get_connection_params(wrapper))
    keys = (theirs.keys() | plain.keys()) - _PYTHON_SIDE
    changed = sorted(key for key in keys if theirs.get(key) != plain.get(key))
    return [f"makes {' and '.join(changed)} itself"] if changed else []
