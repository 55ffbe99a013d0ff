"""Removing what tests that commit leave: Django's own flush passes over unmanaged tables."""

from django.apps import apps
from django.core.management.color import no_style
from django.db import connections

from compat_sync.placement import database_alias

__all__ = ["clear_tasks"]


def clear_tasks() -> None:
    """Remove every task, unique key, lock, worker and pause of a queue; for test databases only.

    A TestCase rolls them back by itself. After a TransactionTestCase, which flushes all other tables, TaskAssertions
    and the fixture `oxpull_tasks` do this.
    """
    connection = connections[database_alias()]
    tables = [model._meta.db_table for model in apps.get_app_config("compat_sync").get_models()]  # noqa: SLF001 - public
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))
