"""System checks: what an alias of TASKS says, and that the project and its database fit.

`manage.py check` asks every backend about its own alias, and the checks that `register` adds about the rest, so that
each message appears once.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.core import checks
from django.utils.module_loading import import_string

from compat_sync.checks.catalog import Problem
from compat_sync.checks.installation import database_problems, schema_problems, time_problems
from compat_sync.checks.rate_limits import rate_limit_problems
from compat_sync.checks.tasks import (
    imported,
    named_problems,
    schedule_problems,
    scheduled_problems,
    schedules_of,
)
from compat_sync.options import examine
from compat_sync.placement import APP

__all__ = ["backend_messages", "check_installation", "check_schema", "our_entries", "register"]

_OURS = f"{APP}.backend.OxpullBackend"

type _Messages = list[checks.CheckMessage]


def register() -> None:
    """Add the checks that concern the project as a whole; safe to repeat."""
    checks.register(check_installation)
    checks.register(check_schema, checks.Tags.database)


def backend_messages(alias: str, params: Mapping[str, Any]) -> _Messages:
    """Return what is wrong with `TASKS[alias]`; imports the tasks that it names."""
    found = [] if apps.is_installed(APP) else [Problem("E001", f"TASKS[{alias!r}] needs {APP} in INSTALLED_APPS.")]
    if alias not in settings.TASKS:
        found.append(Problem("E003", f"A backend was built for {alias!r}, which is not in TASKS."))
    else:
        options, in_settings = examine(alias, params)
        found += [*in_settings, *named_problems(options), *schedule_problems(options)]
        found += scheduled_problems(options, schedules_of(params))
    return [problem.message() for problem in found]


def check_installation(app_configs: Sequence[AppConfig] | None = None, **_kwargs: Any) -> _Messages:  # noqa: ARG001
    """Return what is wrong between aliases, with time zones, routers and the database's entry.

    No database is asked.
    """
    aliases = our_entries()
    if not aliases:
        return []
    found = [*_alike(aliases), *rate_limit_problems(aliases), *time_problems(), *database_problems(aliases)]
    return [problem.message() for problem in found]


def check_schema(
    app_configs: Sequence[AppConfig] | None = None,  # noqa: ARG001
    databases: Sequence[str] | None = None,
    **_kwargs: Any,
) -> _Messages:
    """Return what is wrong with the database of the tasks, if it is among `databases`; asks it.

    While `manage.py migrate` runs, nothing is said of what it is about to add.
    """
    found = schema_problems(databases or ()) if our_entries() else ()
    return [problem.message() for problem in found if problem.code != "W204" or not _is_migrating()]


def our_entries() -> dict[str, Mapping[str, Any]]:
    """Return the entries of TASKS whose backend is OxpullBackend or made of it."""
    ours = import_string(_OURS)
    entries = {alias: (params, imported(params.get("BACKEND", ""))) for alias, params in settings.TASKS.items()}
    return {
        alias: params for alias, (params, kind) in entries.items() if isinstance(kind, type) and issubclass(kind, ours)
    }


def _is_migrating() -> bool:
    """Say whether this process is the command that makes the tables; checks are not told for whom they run."""
    return sys.argv[1:2] == ["migrate"]


def _alike(aliases: Mapping[str, object]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for alias in sorted(aliases):
        other = seen.setdefault(alias.casefold(), alias)
        if other != alias:
            yield Problem("W201", f"TASKS has the aliases {other!r} and {alias!r}, which differ by case only.")
