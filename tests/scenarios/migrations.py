"""Migrations that meet each other, and migrations that are killed: the next one finishes what was begun."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.db.schema import migrations
from oxpull_async.store import schema
from tests.conformance.wrapper import Wrapper
from tests.fixtures import raw
from tests.scenarios.proof import Proof, proof

COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
 WHERE table_schema = {} AND table_name LIKE 'oxpull%' ORDER BY 1, 2
"""
TABLES = {
    "postgres": COLUMNS.format("current_schema()"),
    "mysql": COLUMNS.format("database()"),
    "sqlite": "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name LIKE 'oxpull%' ORDER BY 1, 2",
}
INDEXES = {
    "postgres": "SELECT indexname, indexdef FROM pg_indexes WHERE tablename LIKE 'oxpull%' ORDER BY 1",
    "mysql": "SELECT table_name, index_name, seq_in_index, column_name FROM information_schema.statistics"
    " WHERE table_schema = database() AND table_name LIKE 'oxpull%' ORDER BY 1, 2, 3",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY 1",
}


class Killed(Exception):
    """The process of the migration died here."""


class Mortal(Wrapper):
    """A connection whose process dies after `life` statements that write; `stay` has it stop there instead."""

    def __init__(self, inner: Connection, life: int, *, stay: bool = False) -> None:
        super().__init__(inner)
        self.written = 0
        self._life = life
        self._stay = stay

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        await self._die_in_time()
        matched = await super().execute(statement, **values)
        self.written += 1
        return matched

    async def run_script(self, sql: str, /) -> None:
        await self._die_in_time()
        await super().run_script(sql)
        self.written += 1

    async def _die_in_time(self) -> None:
        if self.written < self._life:
            return
        if not self._stay:
            raise Killed
        sys.stdout.write("here\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Met:
    """Several processes migrated an empty database at once."""

    rounds: int
    processes: int
    applied: int


async def migrations_at_once(url: str, *, rounds: int, processes: int) -> Met:
    """Start `oxpull migrate` several times at once on an empty database; all succeed, and each step is applied once."""
    applied = 0
    async with Oxpull(url) as ox:
        for _ in range(rounds):
            await _drop(ox)
            started = [await _start("-m", "oxpull_async", "migrate", "--url", url) for _ in range(processes)]
            outputs = [(await process.communicate())[0].decode() for process in started]
            assert [process.returncode for process in started] == [0] * processes, outputs
            said = [output.removeprefix("applied ") for output in outputs if "applied" in output]
            did = sorted(name for names in said for name in names.strip().split(", "))
            assert did == [step.name for step in migrations("sqlite", "")], outputs
            applied += 1
            await ox.check_schema()
    return Met(rounds, processes, applied)


@dataclass(frozen=True, slots=True)
class Finished:
    """A migration died after each of its statements in turn, and the next one finished it."""

    deaths: int
    statements: int


async def killed_between_statements(url: str) -> Finished:
    """Have a migration die after every statement in turn; each time the next one ends with the very same schema."""
    async with Oxpull(url) as ox:
        await _drop(ox)
        await ox.migrate()
        whole = await _describe(ox)
        deaths = 0
        for life in count():
            await _drop(ox)
            if not await _dies(ox, life):
                break
            deaths += 1
            await ox.migrate()
            assert await _describe(ox) == whole, f"after a death behind statement {life}"
            assert await ox.migrate() == []
        return Finished(deaths, sum(len(one.statements) for one in migrations(*await _kind(ox))))


@dataclass(frozen=True, slots=True)
class KilledProcess:
    """Processes that migrated were killed with SIGKILL."""

    kills: int


async def killed_processes(url: str, *, lives: tuple[int, ...]) -> KilledProcess:
    """SIGKILL a migrating process behind one of its statements, while it holds its locks; the next one finishes."""
    async with Oxpull(url) as ox:
        await _drop(ox)
        await ox.migrate()
        whole = await _describe(ox)
        for life in lives:
            await _drop(ox)
            process = await _start("-m", __name__, url, str(life))
            assert process.stdout is not None
            assert await process.stdout.readline() == b"here\n"
            process.send_signal(signal.SIGKILL)
            await process.wait()
            await ox.migrate()
            assert await _describe(ox) == whole, f"after a kill behind statement {life}"
    return KilledProcess(len(lives))


async def _dies(ox: Oxpull, life: int) -> bool:
    _, uuid_type = await _kind(ox)
    with suppress(Killed):
        async with ox.database.connection() as conn:
            await schema.migrate(Mortal(conn, life), uuid_type)
        return False
    return True


async def _start(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=PIPE, stderr=None)


async def _kind(ox: Oxpull) -> tuple[str, str]:
    return ox.database.dialect.name, await ox.database.uuid_type()


async def _drop(ox: Oxpull) -> None:
    async with ox.database.connection() as conn:
        await raw.drop(conn)


async def _describe(ox: Oxpull) -> list[tuple[object, ...]]:
    """Read what the schema is made of, and how much of its rows a migration writes."""
    kind = ox.database.dialect.name
    async with ox.transaction() as tx:
        rows = [*await tx.fetch(TABLES[kind]), *await tx.fetch(INDEXES[kind])]
        for table in raw.TABLES:
            rows += await tx.fetch(f"SELECT '{table}', count(*) FROM {table}")
    return [tuple(row) for row in rows]


async def _stop_at(url: str, life: int) -> None:
    async with Oxpull(url) as ox, ox.database.connection() as conn:
        await schema.migrate(Mortal(conn, life, stay=True), await ox.database.uuid_type())


PROOFS: list[Proof] = [
    proof(
        "`oxpull migrate` eight times at once on an empty database",
        "E7",
        partial(migrations_at_once, rounds=5, processes=8),
    ),
    proof("a migration dies after each of its statements in turn", "E7", killed_between_statements),
    proof("a migrating process is killed with SIGKILL", "E7", partial(killed_processes, lives=(0, 1, 2, 4, 6))),
]

if __name__ == "__main__":
    asyncio.run(_stop_at(sys.argv[1], int(sys.argv[2])))
