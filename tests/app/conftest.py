"""An open Oxpull on an empty, migrated database: each test that asks for `ox` runs on all three."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from oxpull_async import Oxpull
from tests.app.kit import open_oxpull
from tests.fixtures import raw

KINDS = ("postgres", "mysql", "sqlite")


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest) -> str:
    """Name the database of each kind in turn; SQLite's need not survive a power cut."""
    found: str = request.getfixturevalue(f"{request.param}_url")
    return f"{found}?synchronous=off" if request.param == "sqlite" else found


@pytest_asyncio.fixture
async def ox(url: str) -> AsyncIterator[Oxpull]:
    """Open an Oxpull whose database holds no task, worker or queue."""
    async with open_oxpull(url) as opened:
        await opened.migrate()
        async with opened.database.connection() as conn:
            await raw.empty(conn)
        yield opened
