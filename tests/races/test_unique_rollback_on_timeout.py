"""A server that undoes the whole transaction where a lock is not to be had in time."""

import asyncio
from collections.abc import Iterator

import pytest

from oxpull_async.domain.errors import LockTimeout, UniqueEnqueueRace
from tests.fixtures.servers import refuse
from tests.races.callers import execute
from tests.races.conftest import prepare
from tests.races.settings import SETTINGS
from tests.races.stage import Stage, enqueue
from tests.servers import clients, launch
from tests.servers.facts import with_database


@pytest.fixture(scope="module")
def strict_url() -> Iterator[str]:
    """Start a server with innodb_rollback_on_timeout; gives a database's URL."""
    executable = launch.program("mysql")
    if executable is None:
        refuse("mysql", "innodb_rollback_on_timeout was not tested: no MariaDB server is installed")
    server, home = launch.start("mysql", executable, "--innodb-rollback-on-timeout=ON")
    clients.run("mysql", server, "CREATE DATABASE strict CHARACTER SET utf8mb4")
    place = with_database(server, "strict")
    asyncio.run(prepare(place))
    yield place
    launch.stop(home)


@pytest.fixture
def url(strict_url: str) -> str:
    """Put the stage on that server."""
    return strict_url


@pytest.mark.asyncio
@pytest.mark.parametrize("setting", [one for one in SETTINGS if one.name in {"my-rc", "my-rr"}], ids=str)
async def test_a_race_says_that_the_whole_transaction_is_lost_where_the_server_undid_it(stage: Stage) -> None:
    await stage.begin()
    async with stage.in_flight(enqueue):
        with pytest.raises(UniqueEnqueueRace, match="lost: roll it back and repeat all of it") as race:
            await stage.enqueue()
    assert isinstance(race.value.__cause__, LockTimeout)
    assert not race.value.transaction_survived
    await stage.here.end(commit=False)
    assert await execute(stage.watcher, "SELECT n FROM race_marker") == []
