"""NativeDatabase: where a DATABASES entry leads, shared, followed when it changes, gone with its loop."""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, cast

import pytest
from django.db import connections
from django.utils.connection import ConnectionDoesNotExist

from compat_sync import clock
from compat_sync.connection import DjangoConnection
from compat_sync.native import NativeDatabase, close_all, may_go_native, missing_driver, unexpressible
from compat_sync.shim import run_blocking
from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseUnavailable, PoolExhausted, UsageError
from oxpull_async.drivers.session import Session
from tests.compat.conftest import Kind, MakeAlias
from tests.compat.django_aliases import add_alias, drop_alias
from tests.fixtures.servers import MakeDatabase
from tests.servers import clients

SECRET = "s3cret-Pa55"
SESSIONS = {
    "postgres": "SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'",
    "mysql": "SELECT count(*) FROM information_schema.processlist WHERE db = '{name}' AND id <> connection_id()",
}
SOCKETS = {
    "postgres": "SELECT split_part(current_setting('unix_socket_directories'), ',', 1)",
    "mysql": "SELECT @@socket",
}


def entry_of(alias: str) -> dict[str, Any]:
    entry: dict[str, Any] = connections.settings[alias]
    return entry


async def installation(database: Database) -> object:
    async with database.connection() as conn:
        row = await conn.fetchrow("installation")
        assert row is not None
        return row[0]


async def borrowed(database: Database) -> Session:
    """Give the session that a pool lends first."""
    async with database.connection() as conn:
        return cast("Session", conn)


async def answer(database: Database, sql: str) -> list[str]:
    """Ask the driver's own connection."""
    async with database.connection() as conn:
        raw = cast("Session", conn).raw
        if hasattr(raw, "fetch"):
            return [str(value) for value in await raw.fetchrow(sql)]
        cursor = await raw.cursor()
        await cursor.execute(sql)
        row = await cursor.fetchone()
        await cursor.close()
        return [str(value) for value in row]


def djangos_installation(alias: str) -> object:
    row = run_blocking(DjangoConnection(alias).fetchrow("installation"))
    assert row is not None
    return row[0]


def test_the_native_driver_reaches_djangos_database(alias: str) -> None:
    assert unexpressible(alias) == []
    assert missing_driver(alias) is None
    assert may_go_native(alias)
    database = NativeDatabase(alias)
    assert asyncio.run(installation(database)) == djangos_installation(alias)
    assert database.dialect is DjangoConnection(alias).dialect
    assert asyncio.run(database.uuid_type()) == run_blocking(DjangoConnection(alias).uuid_type())


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_the_same_database_is_reached_through_a_unix_socket(make_alias: MakeAlias, kind: Kind) -> None:
    alias = make_alias(kind)
    entry = entry_of(alias)
    with connections[alias].cursor() as cursor:
        cursor.execute(SOCKETS[kind])
        place = cursor.fetchone()[0]
    expected = djangos_installation(alias)
    entry["HOST"] = place
    database = NativeDatabase(alias)
    assert asyncio.run(installation(database)) == expected
    assert "127.0.0.1" not in database.label


def test_a_service_names_the_place(make_alias: MakeAlias, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = make_alias("postgres")
    expected = djangos_installation(alias)
    entry = entry_of(alias)
    lines = [
        f"{key}={entry[name]}\n"
        for key, name in (("host", "HOST"), ("port", "PORT"), ("user", "USER"), ("dbname", "NAME"))
    ]
    (tmp_path / "services").write_text("[shop]\n" + "".join(lines))
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    entry |= {"NAME": "", "HOST": "", "PORT": "", "USER": "", "OPTIONS": {"service": "shop"}}
    assert asyncio.run(installation(NativeDatabase(alias))) == expected


def test_a_name_that_changes_is_followed(
    url_of: Callable[[Kind], str], make_database: MakeDatabase, kind: Kind
) -> None:
    add_alias("elsewhere", make_database(kind))
    add_alias("moving", url_of(kind))
    try:
        database = NativeDatabase("moving")
        first = asyncio.run(borrowed(database))
        before = database.label
        entry_of("moving")["NAME"] = entry_of("elsewhere")["NAME"]
        assert database.label == NativeDatabase("elsewhere").label != before
        assert asyncio.run(borrowed(database)) is not first
        entry_of("moving")["OPTIONS"]["no_such_key"] = 1
        assert not may_go_native("moving")
        del entry_of("moving")["OPTIONS"]["no_such_key"]
        assert may_go_native("moving")
    finally:
        drop_alias("moving")
        drop_alias("elsewhere")


def test_equal_places_share_one_pool_whatever_alias_they_are_under(make_alias: MakeAlias, kind: Kind) -> None:
    one, other = NativeDatabase(make_alias(kind)), NativeDatabase(make_alias(kind))
    larger = NativeDatabase(one.alias, pool_size=11)

    async def ask() -> None:
        first = await borrowed(one)
        assert await borrowed(other) is first
        assert await borrowed(larger) is not first

    asyncio.run(ask())


def test_each_event_loop_has_a_pool_and_none_is_left_when_it_has_ended(alias: str, kind: Kind) -> None:
    database = NativeDatabase(alias)
    connections[alias].close()
    together = threading.Barrier(2)
    lent: list[Session] = []

    async def hold() -> None:
        async with database.connection() as conn:
            lent.append(cast("Session", conn))
            await asyncio.to_thread(together.wait)
        await database.version()

    threads_before = threading.active_count()
    threads = [threading.Thread(target=asyncio.run, args=(hold(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lent[0] is not lent[1]
    assert threading.active_count() == threads_before
    assert left_open(alias, kind) == 0


def left_open(alias: str, kind: Kind) -> int:
    """Count the sessions that a server has of the alias's database, or the descriptors of its file."""
    name = str(entry_of(alias)["NAME"])
    if kind == "sqlite":
        return sum(name in link_of(descriptor) for descriptor in Path("/proc/self/fd").iterdir())
    entry = entry_of(alias)
    place = f"{'postgresql' if kind == 'postgres' else 'mysql'}://{entry['USER']}@{entry['HOST']}:{entry['PORT']}/"
    home = "postgres" if kind == "postgres" else ""
    for _ in range(200):  # a server takes note of a farewell a little later
        count = int(str(clients.run(kind, place + home, SESSIONS[kind].format(name=name))[0][0]))
        if not count:
            break
    return count


def link_of(descriptor: Path) -> str:
    with suppress(OSError):
        return str(descriptor.readlink())
    return ""


def test_close_all_closes_the_pools_of_this_loop(make_alias: MakeAlias, kind: Kind) -> None:
    one, larger = NativeDatabase(make_alias(kind)), NativeDatabase(make_alias(kind), pool_size=3)

    async def ask() -> None:
        before = {await borrowed(one), await borrowed(larger)}
        await close_all()
        after = {await borrowed(one), await borrowed(larger)}
        assert not before & after
        await one.close()
        assert await borrowed(one) not in after
        assert await borrowed(larger) in after

    asyncio.run(ask())


def test_no_more_connections_are_lent_than_the_pool_has(make_alias: MakeAlias) -> None:
    database = NativeDatabase(make_alias("postgres"))
    connections[database.alias].close()
    entry_of(database.alias)["OPTIONS"] = {"pool": {"max_size": 2, "timeout": 0.05}}
    larger = NativeDatabase(database.alias, pool_size=3)

    async def lend(source: NativeDatabase, count: int) -> None:
        async with AsyncExitStack() as stack:
            for _ in range(count):
                await stack.enter_async_context(source.connection())

    asyncio.run(lend(database, 2))
    asyncio.run(lend(larger, 3))
    with pytest.raises(PoolExhausted):
        asyncio.run(lend(database, 3))


def test_the_clock_can_be_moved_for_all_or_for_one(alias: str) -> None:
    database, own = NativeDatabase(alias), NativeDatabase(alias)

    def seen(source: NativeDatabase) -> float:
        return asyncio.run(borrowed(source)).speech.clock_offset()

    assert seen(database) == 0
    clock.set_offset(60)
    try:
        assert seen(database) == seen(own) == 60
        own.clock_offset = -5
        assert (seen(own), seen(database), own.clock_offset) == (-5, 60, -5)
    finally:
        clock.set_offset(0)
    assert seen(database) == 0


@pytest.mark.parametrize(
    ("kind", "options", "sql", "expected"),
    [
        ("postgres", {"options": "-c search_path=tasks,public"}, "SHOW search_path", "tasks,public"),
        ("postgres", {"assume_role": "pg_monitor"}, "SELECT current_user", "pg_monitor"),
        ("postgres", {"application_name": "shop"}, "SHOW application_name", "shop"),
        ("postgres", {"isolation_level": 4}, "SHOW default_transaction_isolation", "read committed"),
        ("mysql", {"init_command": "SET @a = 1; SET @b = 2;"}, "SELECT @a + @b", "3"),
        ("mysql", {"isolation_level": "serializable"}, "SELECT @@session.tx_isolation", "READ-COMMITTED"),
        ("sqlite", {"init_command": "PRAGMA synchronous=NORMAL"}, "PRAGMA synchronous", "1"),
        ("sqlite", {}, "PRAGMA synchronous", "2"),
        ("sqlite", {}, "PRAGMA journal_mode", "wal"),
    ],
)
def test_an_option_is_in_force_on_native_connections(
    make_alias: MakeAlias, kind: Kind, options: dict[str, object], sql: str, expected: str
) -> None:
    alias = make_alias(kind)
    entry_of(alias)["OPTIONS"] = options
    assert asyncio.run(answer(NativeDatabase(alias), sql)) == [expected]


@pytest.mark.parametrize(("options", "idle"), [({}, None), ({"keepalives_idle": 77}, 77)])
def test_the_kernel_is_asked_to_notice_a_vanished_server(
    make_alias: MakeAlias, options: dict[str, object], idle: int | None
) -> None:
    database = NativeDatabase(make_alias("postgres", **options))

    async def ask() -> tuple[int, int]:
        async with database.connection() as conn:
            link = cast("Session", conn).raw._transport.get_extra_info("socket")
            return (
                link.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
                link.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
            )

    on, seconds = asyncio.run(ask())
    assert on
    assert idle in (None, seconds)


@pytest.mark.parametrize("role", ["any", "read-write", "primary"])
def test_a_primary_is_accepted_where_one_is_asked_for(make_alias: MakeAlias, role: str) -> None:
    alias = make_alias("postgres", target_session_attrs=role)
    assert asyncio.run(installation(NativeDatabase(alias))) == djangos_installation(alias)


def test_a_sqlite_file_can_be_waited_for_longer(make_alias: MakeAlias) -> None:
    patient = NativeDatabase(make_alias("sqlite", timeout=1)).patient(60)
    assert cast("Any", asyncio.run(borrowed(patient))).patience == 60
    assert asyncio.run(borrowed(patient.patient(5))).raw is not None


def test_an_entry_that_cannot_be_expressed_is_refused_at_use(make_alias: MakeAlias, kind: Kind) -> None:
    alias = make_alias(kind)
    entry_of(alias)["OPTIONS"] = {"no_such_key": 7}
    database = NativeDatabase(alias)
    [problem] = unexpressible(alias)
    assert f"DATABASES['{alias}']['OPTIONS']['no_such_key'] is 7" in problem
    assert not may_go_native(alias)
    with pytest.raises(UsageError, match="no_such_key"):
        database.connection()
    assert database.label == f"DATABASES['{alias}']"
    asyncio.run(database.close())
    entry_of(alias)["OPTIONS"] = {}


@pytest.mark.parametrize("keywords", [{"pooler": "transaction"}, {"listen_url": "mysql://db/x"}])
def test_a_pooler_is_refused_where_there_is_none(make_alias: MakeAlias, keywords: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="one of mysql"):
        NativeDatabase(make_alias("mysql"), **keywords).connection()


def test_an_alias_that_django_does_not_know_is_named() -> None:
    with pytest.raises(ConnectionDoesNotExist, match="nowhere"):
        unexpressible("nowhere")


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_a_server_that_cannot_be_reached_is_named_without_the_password(make_alias: MakeAlias, kind: Kind) -> None:
    alias = make_alias(kind)
    entry_of(alias).update(HOST="127.0.0.1", PORT="1", PASSWORD=SECRET)
    database = NativeDatabase(alias)
    with pytest.raises(DatabaseUnavailable) as caught:
        asyncio.run(borrowed(database))
    assert "127.0.0.1, port 1" in str(caught.value)
    assert SECRET not in f"{caught.value}{caught.value.__cause__}{database.label}{database!r}"


def test_the_password_is_taken_from_the_passfile(make_alias: MakeAlias, tmp_path: Path) -> None:
    passfile = tmp_path / "passwords"
    passfile.write_text(f"*:*:*:clerk:{SECRET}\n")
    passfile.chmod(0o600)
    heard: list[bytes] = []
    alias = make_alias("postgres")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        writer.write(b"N")
        await reader.read(1024)
        writer.write(b"R\0\0\0\x08\0\0\0\x03")
        heard.append(await reader.read(1024))
        writer.close()

    async def knock() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        entry_of(alias).update(HOST="127.0.0.1", PORT=port, USER="clerk", OPTIONS={"passfile": str(passfile)})
        with pytest.raises(DatabaseUnavailable):
            await borrowed(NativeDatabase(alias))
        server.close()

    asyncio.run(knock())
    assert SECRET.encode() in heard[0]
