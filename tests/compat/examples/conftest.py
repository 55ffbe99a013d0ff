"""Migrated databases for the shops, one of each kind for all tests of a module."""

from typing import cast

import pytest

from tests.compat.conftest import KINDS, Kind
from tests.compat.examples.places import Place
from tests.fixtures.servers import MakeDatabase


@pytest.fixture(scope="module", params=KINDS)
def place(
    request: pytest.FixtureRequest, make_database: MakeDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Place:
    """Give a database of each kind in turn, empty but for what `migrate` and `createsuperuser` have made."""
    kind = cast("Kind", request.param)
    found = Place(make_database(kind), tmp_path_factory.mktemp("shops"))
    printed = found.manage("migrate")
    assert "Applying compat_sync.0001_tasks... OK" in printed
    found.manage("createsuperuser", "--noinput", "--username", "ann", "--email", "ann@example.com")
    return found
