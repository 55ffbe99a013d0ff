"""Bring a database to the newest schema, and say whether it is there."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.db.schema import Migration, migrations
from oxpull_async.domain.errors import NotMigrated, SchemaTooNew


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


async def migrate(conn: Connection, uuid_type: str) -> list[Migration]:
    """Apply what is pending, alone.

    Returns what this call applied. Safe to repeat and to run twice at once.
    """
    await conn.execute("create_schema_table")
    applied: list[Migration] = []
    while (done := await _apply_next(conn, uuid_type)) is not None:
        applied.append(done)
    return applied


async def installation(conn: Connection) -> str:
    """Return the id that tells this database from every other."""
    row = await conn.fetchrow("installation")
    if row is None:
        raise NotMigrated
    return str(row[0])


async def _apply_next(conn: Connection, uuid_type: str) -> Migration | None:
    async with _alone(conn):
        state = await read_schema(conn, uuid_type)
        if state.unknown:
            require_current(state)
        if not state.pending:
            return None
        migration = state.pending[0]
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
