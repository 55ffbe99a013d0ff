"""Run every chapter in every world: a test takes `conn` (and `other`, `clock`, `empty`) and is a plain coroutine."""

import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from oxpull_async.db import statements
from oxpull_async.db.contract import Connection
from oxpull_async.store.schema import migrate
from tests.conformance.worlds import WORLDS, World
from tests.fixtures import raw
from tests.fixtures.servers import MakeDatabase

OWN_STATEMENTS = Path(__file__).parent / "sql"


class Clock:
    """The database's clock as one world's connections see it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.offset = 0.0

    def advance(self, seconds: float) -> None:
        self.offset += seconds
        self._world.set_clock(self.offset)


class Atlas:
    """The worlds of this process, each made when it is first asked for, over one database of each kind."""

    def __init__(self, make_database: MakeDatabase) -> None:
        self.make_database = make_database
        self._urls: dict[tuple[str, str], str] = {}
        self._worlds: dict[tuple[str, str], World] = {}

    def world(self, name: str, purpose: str = "main") -> World:
        """Give a world; those of one kind and purpose share a database."""
        if (name, purpose) not in self._worlds:
            kind, make = WORLDS[name]
            if (kind, purpose) not in self._urls:
                self._urls[kind, purpose] = self.make_database(kind)
            world = self._worlds[name, purpose] = make(self._urls[kind, purpose])
            if purpose == "main":
                with world.lend() as conn:
                    world.run(raw.prepare(conn))
                    world.run(migrate(conn, world.uuid_type()))
                world.disconnect()
        return self._worlds[name, purpose]

    def close(self) -> None:
        for made in self._worlds.values():
            made.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Hand a coroutine to its world."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    world = pyfuncitem.funcargs.get("scratch") or pyfuncitem.funcargs["world"]
    assert isinstance(world, World)
    world.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def atlas(make_database: MakeDatabase) -> Iterator[Atlas]:
    """Hold the worlds of this process."""
    found = Atlas(make_database)
    yield found
    found.close()


@pytest.fixture(scope="session", params=WORLDS)
def world_name(request: pytest.FixtureRequest) -> str:
    """Name each world in turn."""
    return str(request.param)


@pytest.fixture
def world(atlas: Atlas, world_name: str) -> World:
    """Give the world of this test."""
    return atlas.world(world_name)


@pytest.fixture
def conn(world: World) -> Iterator[Connection]:
    """Lend a connection to a migrated database without tasks, workers and queues."""
    with world.lend() as lent:
        world.run(raw.empty(lent))
        yield lent


@pytest.fixture
def other(world: World, conn: Connection) -> Iterator[Connection]:
    """Lend a second connection to the same database."""
    with world.lend() as lent:
        yield lent


@pytest.fixture
def clock(world: World, conn: Connection) -> Iterator[Clock]:
    """Move the database's clock; it is put right after the test."""
    moved = Clock(world)
    yield moved
    world.set_clock(0.0)


@pytest.fixture(scope="session", autouse=True)
def _test_statements() -> Iterator[None]:
    """Let statements named `test_…` be read from this folder's own `sql/`."""
    read = statements._read

    @cache
    def read_with_ours(dialect: str, name: str) -> str:
        path = OWN_STATEMENTS / dialect / f"{name}.sql"
        return path.read_text().strip() if path.exists() else read(dialect, name)

    statements._read = read_with_ours
    yield
    statements._read = read


@pytest.fixture
def scratch(atlas: Atlas, world_name: str) -> World:
    """Give the world of `unmigrated`, whose connections have prepared nothing yet."""
    found = atlas.world(world_name, "scratch")
    found.disconnect()
    return found


@pytest.fixture
def unmigrated(scratch: World) -> Iterator[Connection]:
    """Lend a connection to a database without any table of ours; not the one of `conn`."""
    with scratch.lend() as lent:
        scratch.run(raw.drop(lent))
        yield lent
