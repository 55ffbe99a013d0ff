"""A site inside a test's transaction, as in a TestCase, and outside of one, as in a TransactionTestCase."""

from collections.abc import Iterator

import pytest
from django.db import connections, transaction

from tests.compat.testing import tasks


@pytest.fixture
def table(site: str) -> Iterator[str]:
    """Give the site a table of the test's own."""
    with connections[site].cursor() as cursor:
        cursor.execute("CREATE TABLE note (id integer PRIMARY KEY)")
    tasks.DONE.clear()
    yield site
    with connections[site].cursor() as cursor:
        cursor.execute("DROP TABLE note")


@pytest.fixture(params=["inside", "outside"])
def place(request: pytest.FixtureRequest, table: str) -> Iterator[str]:
    """Name the site's alias, with a transaction open that is rolled back, and without one."""
    if request.param == "outside":
        yield table
        return
    with transaction.atomic(using=table):
        yield table
        transaction.set_rollback(True, using=table)


@pytest.fixture
def inside(table: str) -> Iterator[str]:
    """Name the site's alias, with a transaction open that is rolled back."""
    with transaction.atomic(using=table):
        yield table
        transaction.set_rollback(True, using=table)
