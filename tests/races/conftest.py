"""A stage for each setting and kind of caller, on emptied tables; the matrix of outcomes is printed at the end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio

from oxpull_async.db.contract import Database
from oxpull_async.drivers.aiomysql import AiomysqlDatabase
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.drivers.asyncpg import AsyncpgDatabase
from oxpull_async.drivers.url import DatabaseUrl, parse_url
from oxpull_async.store.schema import migrate
from tests.fixtures import raw
from tests.fixtures.servers import MakeDatabase
from tests.races.callers import BUSY_SECONDS, djangoist, execute, joined, opened
from tests.races.matrix import Matrix
from tests.races.settings import SETTINGS, Setting
from tests.races.stage import Stage

DATABASES: dict[str, Callable[[DatabaseUrl], Database]] = {
    "postgres": AsyncpgDatabase,
    "mysql": AiomysqlDatabase,
    "sqlite": AiosqliteDatabase,
}
_urls: dict[tuple[str, str], str] = {}


@pytest.fixture(scope="session")
def matrix() -> Iterator[Matrix]:
    """Collect what every interleaving came to."""
    collected = Matrix()
    yield collected
    collected.show()


@pytest.fixture(params=SETTINGS, ids=str)
def setting(request: pytest.FixtureRequest) -> Setting:
    """Give each setting in turn."""
    found: Setting = request.param
    return found


@pytest.fixture(params=["joined", "django"])
def kind(request: pytest.FixtureRequest) -> str:
    """Name the kind of the caller's connection."""
    return str(request.param)


@pytest.fixture
def url(setting: Setting, make_database: MakeDatabase) -> str:
    """Name a migrated database of the setting."""
    place = (setting.family, setting.journal)
    if place not in _urls:
        made = make_database(setting.family)
        _urls[place] = made
        asyncio.run(prepare(_with_options(made, setting)))
    return _urls[place]


@pytest_asyncio.fixture
async def stage(url: str, setting: Setting, kind: str) -> AsyncIterator[Stage]:
    """Put a caller and others on a stage with empty tables."""
    database = open_url(_with_options(url, setting))
    try:
        async with database.connection() as conn:
            await raw.empty(conn)
            await conn.run_script("DELETE FROM race_marker")
        caller = joined(database, url, setting) if kind == "joined" else djangoist(url, setting)
        async with opened(url) as watcher, caller as here:
            if setting.family == "mysql":
                await execute(watcher, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            yield Stage(setting, here, database, watcher)
    finally:
        await database.close()


def open_url(url: str) -> Database:
    """Open a database by its URL."""
    place = parse_url(url)
    return DATABASES[place.family](place)


def _with_options(url: str, setting: Setting) -> str:
    if setting.family != "sqlite":
        return url
    return f"{url}?busy_timeout={BUSY_SECONDS}&synchronous=off&journal_mode={setting.journal}"


async def prepare(url: str) -> None:
    """Make the tables of a new database."""
    database = open_url(url)
    async with database.connection() as conn:
        await migrate(conn, await database.uuid_type())
        await conn.run_script("CREATE TABLE race_marker (n integer)")
    await database.close()
