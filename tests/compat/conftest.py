"""Django aliases over migrated databases of this process."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.store.schema import migrate
from tests.compat import routing
from tests.compat.django_aliases import add_alias, configure, drop_alias
from tests.compat.promises.kit import site_of
from tests.fixtures import raw
from tests.fixtures.servers import MakeDatabase

type Kind = Literal["postgres", "mysql", "sqlite"]
type MakeAlias = Callable[..., str]

configure()  # before the modules of the tests are read, which declare tasks

ONLY_DJANGO: dict[Kind, dict[str, Any]] = {
    "postgres": {"keepalives": 0},
    "mysql": {"write_timeout": 30},
    "sqlite": {"init_command": "SELECT 1"},
}
KINDS: tuple[Kind, ...] = ("postgres", "mysql", "sqlite")


@pytest.fixture(scope="session")
def url_of(make_database: MakeDatabase) -> Callable[[Kind], str]:
    """Name this process's migrated database of each kind."""
    urls: dict[Kind, str] = {}

    def find(kind: Kind) -> str:
        if kind not in urls:
            urls[kind] = make_database(kind)
            add_alias("migrating", urls[kind])
            conn = DjangoConnection("migrating")
            run_blocking(raw.prepare(conn))
            run_blocking(migrate(conn, run_blocking(conn.uuid_type())))
            drop_alias("migrating")
        return urls[kind]

    return find


@pytest.fixture
def make_alias(url_of: Callable[[Kind], str]) -> Iterator[MakeAlias]:
    """Reach a kind's database under one more alias, with OPTIONS; the tables are empty."""
    made: list[str] = []

    def make(kind: Kind, **options: object) -> str:
        alias = f"compat-{len(made)}"
        add_alias(alias, url_of(kind), **options)
        made.append(alias)
        if len(made) == 1:
            run_blocking(raw.empty(DjangoConnection(alias)))
        return alias

    yield make
    for alias in made:
        drop_alias(alias)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Name each kind of database in turn."""
    found: Kind = request.param
    return found


@pytest.fixture
def alias(make_alias: MakeAlias, kind: Kind) -> str:
    """Name a Django connection."""
    return make_alias(kind)


@pytest.fixture
def conn(alias: str) -> DjangoConnection:
    """Give the core's connection over `alias`."""
    return DjangoConnection(alias)


@pytest.fixture
def site(alias: str) -> Iterator[str]:
    """Keep the tasks of the Django site in a database of each kind in turn, and name its alias."""
    before = routing.current["alias"]
    routing.current["alias"] = alias
    yield alias
    routing.current["alias"] = before


@pytest.fixture
def fallback(url_of: Callable[[Kind], str], kind: Kind) -> Iterator[str]:
    """Give a site whose entry of DATABASES only Django understands."""
    with site_of(url_of(kind), **ONLY_DJANGO[kind]) as alias:
        yield alias
