"""Bring a database to the newest schema, say whether it is there, and take it away again."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.db.schema import Migration, drop_statements, migrations
from oxpull_async.domain.errors import NotMigrated, Refused, SchemaTooNew


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Which migrations the database has, and which it lacks."""

    applied: tuple[int, ...]
    pending: tuple[Migration, ...]
    unknown: tuple[int, ...]


async def read_schema(conn: Connection, uuid_type: str) -> SchemaState:
    """Compare the database with the migrations of this version.

    An empty database has them all pending.
    """
    try:
        applied = tuple(row[0] for row in await conn.fetch("schema_versions"))
    except NotMigrated:
        applied = ()
    known = migrations(conn.dialect.name, uuid_type)
    numbers = {migration.version for migration in known}
    return SchemaState(
        applied,
        tuple(migration for migration in known if migration.version not in applied),
        tuple(version for version in applied if version not in numbers),
    )


def require_current(state: SchemaState) -> None:
    """Raise NotMigrated or SchemaTooNew unless the schema is this version's."""
    if state.unknown:
        raise SchemaTooNew(
            f"the database has schema version {max(state.unknown)}, which this version of oxpull-async does not know: "
            "upgrade this process"
        )
    if state.pending:
        names = ", ".join(migration.name for migration in state.pending)
        raise NotMigrated(f"the database lacks {len(state.pending)} migration(s) ({names}): run `oxpull migrate`")


async def migrate(conn: Connection, uuid_type: str, *, up_to: int | None = None) -> list[Migration]:
    """Apply what is pending, alone, as far as version `up_to` if that is given.

    Returns what this call applied. Safe to repeat and to run twice at once.
    """
    await conn.execute("create_schema_table")
    applied: list[Migration] = []
    while (done := await _apply_next(conn, uuid_type, up_to)) is not None:
        applied.append(done)
    return applied


async def drop(conn: Connection) -> None:
    """Drop every table of ours with all that is in it, alone.

    Safe to repeat, also after a crash at any point.

    Raises: Refused, before anything is dropped, while a worker lives.
    """
    async with _alone(conn):
        await require_no_workers(conn)
        await _run(conn, drop_statements(conn.dialect.name))


async def require_no_workers(conn: Connection) -> None:
    """Raise Refused while a worker lives; a database without our tables has none."""
    try:
        async with conn.transaction():
            workers = await conn.fetch("living_workers")
    except NotMigrated:
        return
    if workers:
        names = ", ".join(f"{hostname}:{pid}" for hostname, pid in workers)
        raise Refused(
            f"{len(workers)} worker(s) still live ({names}): stop them first; one that was killed counts as living "
            "until its lease has run out"
        )


async def installation(conn: Connection) -> str:
    """Return the id that tells this database from every other."""
    row = await conn.fetchrow("installation")
    if row is None:
        raise NotMigrated
    return str(row[0])


async def _apply_next(conn: Connection, uuid_type: str, up_to: int | None) -> Migration | None:
    async with _alone(conn):
        state = await read_schema(conn, uuid_type)
        wanted = [migration for migration in state.pending if up_to is None or migration.version <= up_to]
        if state.unknown and (wanted or up_to is None):
            require_current(state)
        if not wanted:
            return None
        migration = wanted[0]
        await _run(conn, migration.statements)
        await conn.execute("record_migration", version=migration.version, name=migration.name)
        return migration


@asynccontextmanager
async def _alone(conn: Connection) -> AsyncIterator[None]:
    if conn.dialect.has_transactional_ddl:
        async with conn.transaction():
            await conn.fetch("lock_migrations")
            yield
        return
    await conn.fetch("lock_migrations")
    try:
        yield
    finally:
        await conn.fetch("unlock_migrations")


async def _run(conn: Connection, statements: Sequence[str]) -> None:
    for statement in statements:
        await conn.run_script(statement)
