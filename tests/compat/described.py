"""What the tables of ours are made of, as Django's introspection sees them."""

from typing import Any

from django.db import connections

type Described = dict[str, Any]


def our_tables(alias: str) -> list[str]:
    """Name the tables that belong to the queue."""
    django = connections[alias]
    with django.cursor() as cursor:
        return sorted(name for name in django.introspection.table_names(cursor) if name.startswith("oxpull"))


def describe(alias: str) -> Described:
    """Read the columns, indexes and number of rows of each of our tables."""
    django = connections[alias]
    found: Described = {}
    with django.cursor() as cursor:
        for table in our_tables(alias):
            columns = django.introspection.get_table_description(cursor, table)
            indexes = django.introspection.get_constraints(cursor, table)
            cursor.execute(f"SELECT count(*) FROM {table}")
            found[table] = (columns, sorted(map(str, indexes.items())), cursor.fetchone())
    return found
