"""Which database holds the tasks: the alias that routers give all our models for writing.

A task, its unique key and its running lock are written in one transaction, so they cannot be split. Routers are asked
by model, without hints; rows that a router would send elsewhere by their values are not supported.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.db import DEFAULT_DB_ALIAS, connections, models, router

__all__ = ["check_placement", "database_alias", "may_migrate", "migrate_command"]

APP = "compat_sync"
_TASK = "OxpullTask"
_ROUTING = frozenset({"DATABASE_ROUTERS", "DATABASES", "INSTALLED_APPS"})


def database_alias() -> str:
    """Return the alias that all our models are written to, and read from.

    One question to the routers; that the other models are with the tasks is looked at once for each answer.

    Raises: ImproperlyConfigured when routers split our models or name no alias of DATABASES, or compat_sync is not
    installed.
    """
    alias = router.db_for_write(_task_model())
    _require_together(alias)
    return alias


def check_placement() -> str:
    """Return what `database_alias` returns, having asked the routers about every model anew."""
    _require_together.cache_clear()
    return database_alias()


def may_migrate(alias: str) -> bool:
    """Say whether the routers let our tables be made in a database.

    Raises: ImproperlyConfigured when they let some of our tables be made there and others not.
    """
    answers = {model.__name__: bool(router.allow_migrate_model(alias, model)) for model in _models()}
    allowed, refused = ([name for name, answer in answers.items() if answer is wanted] for wanted in (True, False))
    if allowed and refused:
        raise ImproperlyConfigured(
            f"DATABASE_ROUTERS allow the tables of {', '.join(allowed)} in DATABASES[{alias!r}], but not those of "
            f"{', '.join(refused)}: let allow_migrate() give one answer for all of {APP}"
        )
    return bool(allowed)


def migrate_command() -> str:
    """Return the command that makes the tables where the routers put them, in backquotes."""
    alias = database_alias()
    return "`manage.py migrate`" if alias == DEFAULT_DB_ALIAS else f"`manage.py migrate --database {alias}`"


@cache
def _require_together(alias: str) -> None:
    """Raise ImproperlyConfigured unless every model of ours is written to `alias`, and there is such an alias."""
    elsewhere = {name: place for name, place in _places() if place != alias}
    if elsewhere:
        places = ", ".join(f"{name} to {place!r}" for name, place in elsewhere.items())
        raise ImproperlyConfigured(
            f"DATABASE_ROUTERS split the tables of tasks, which are written in one transaction: {_TASK} goes to "
            f"{alias!r}, {places}. Let db_for_write() give one answer for all of {APP}"
        )
    if alias not in set(connections):
        raise ImproperlyConfigured(
            f"DATABASE_ROUTERS send the tables of tasks to {alias!r}, which is no alias of DATABASES (there is "
            f"{', '.join(map(repr, connections))}): let db_for_write() name one of these for {APP}"
        )


def _places() -> Iterator[tuple[str, str]]:
    return ((model.__name__, router.db_for_write(model)) for model in _models())


def _models() -> Iterator[type[models.Model]]:
    found: Iterator[type[models.Model]] = _config().get_models()
    return found


def _task_model() -> type[models.Model]:
    found: type[models.Model] = _config().get_model(_TASK)
    return found


def _config() -> Any:
    try:
        return apps.get_app_config(APP)
    except LookupError:
        raise ImproperlyConfigured(f"add {APP!r} to INSTALLED_APPS: its models say where tasks are kept") from None


def _forget(*, setting: str, **_: object) -> None:
    if setting in _ROUTING:
        _require_together.cache_clear()


setting_changed.connect(_forget, dispatch_uid="compat_sync.placement")
