"""Whether the tables of django-ox and its oxpull app are where a move can reach them."""

from collections.abc import Sequence

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import connections, router

from compat_sync.placement import check_placement

__all__ = ["has_oxpull_app", "has_schedules", "shared_database"]

TASKS, TICKS, SCHEDULES = "django_ox_oxtask", "django_ox_oxscheduletick", "django_ox_oxschedule"
OXPULL = (
    "oxpull_oxpulluniquelock",
    "oxpull_oxpullbatch",
    "oxpull_oxpullbatchmember",
    "oxpull_oxpullworkflow",
    "oxpull_oxpullworkflownode",
    "oxpull_oxpullworkflowedge",
    "oxpull_oxpullworkflowscan",
)
OURS = "oxpull_task"
NEEDED = frozenset({"lease_epoch", "worker_ids", "max_attempts", "backend_name"})


def shared_database(wanted: str | None) -> str:
    """Return the alias of the database that has the old tables and ours.

    Raises: ImproperlyConfigured where the two are apart, or tables of either are missing.
    """
    ours = check_placement()
    if wanted not in {None, ours}:
        raise ImproperlyConfigured(_apart(f"--database is {wanted!r}", ours))
    if apps.is_installed("django_ox"):
        theirs = router.db_for_write(apps.get_model("django_ox", "OxTask"))
        if theirs != ours:
            raise ImproperlyConfigured(_apart(f"routers write OxTask to {theirs!r}", ours))
    _require_tables(ours)
    return ours


def has_oxpull_app(alias: str) -> bool:
    """Say whether the tables of the oxpull app are there: django-ox may have been alone.

    Raises: ImproperlyConfigured where some of them are.
    """
    missing = _missing(alias, OXPULL)
    if missing and len(missing) < len(OXPULL):
        raise ImproperlyConfigured(_outdated(alias, missing))
    return not missing


def has_schedules(alias: str) -> bool:
    """Say whether there is a table of stored schedules: older versions of django-ox had none."""
    return not _missing(alias, [SCHEDULES])


def _require_tables(alias: str) -> None:
    if _missing(alias, [OURS]):
        raise ImproperlyConfigured(f"DATABASES[{alias!r}] has no table {OURS}: run `manage.py migrate compat_sync`")
    if _missing(alias, [TASKS]):
        raise ImproperlyConfigured(
            f"DATABASES[{alias!r}] has no table {TASKS}: nothing of django-ox is there, or it was removed already"
        )
    missing = _missing(alias, [TICKS])
    with connections[alias].cursor() as cursor:
        columns = {column.name for column in connections[alias].introspection.get_table_description(cursor, TASKS)}
    missing += sorted(f"{TASKS}.{name}" for name in NEEDED - columns)
    if missing:
        raise ImproperlyConfigured(_outdated(alias, missing))


def _missing(alias: str, tables: Sequence[str]) -> list[str]:
    there = set(connections[alias].introspection.table_names())
    return [table for table in tables if table not in there]


def _apart(theirs: str, ours: str) -> str:
    return (
        f"{theirs}, and routers write compat_sync's tables to {ours!r}: a task is moved in one transaction, so both "
        "must be in one database. Bring compat_sync there, or let the old queue run dry"
    )


def _outdated(alias: str, missing: Sequence[str]) -> str:
    return (
        f"DATABASES[{alias!r}] lacks {', '.join(missing)}: bring the old apps to django-ox 1.9 first "
        "(`manage.py migrate django_ox` and `manage.py migrate oxpull`)"
    )
