"""Run workloads several times and keep every sample, with all that is needed to judge them later."""

import os
import platform
import sqlite3
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.workload import Bench, Scale, Workload
from oxpull_async import Oxpull
from oxpull_async.errors import UsageError

PACKAGES = ("oxpull-async", "asyncpg", "aiomysql", "aiosqlite", "msgspec", "anyio")
_POSTGRES = "fsync synchronous_commit full_page_writes wal_level shared_buffers max_wal_size max_connections autovacuum"
_MYSQL = "innodb_flush_log_at_trx_commit innodb_buffer_pool_size innodb_doublewrite log_bin sync_binlog max_connections"
SETTINGS = {
    "postgres": (
        f"SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY('{{{','.join(_POSTGRES.split())}}}')",
    ),
    "mysql": (f"SHOW VARIABLES WHERE FIND_IN_SET(Variable_name, '{','.join(_MYSQL.split())}')",),
    "sqlite": (
        "SELECT 'journal_mode', journal_mode FROM pragma_journal_mode",
        "SELECT 'synchronous', synchronous FROM pragma_synchronous",
    ),
}
SERVER = {"postgres": "SHOW server_version", "mysql": "SELECT version()", "sqlite": "SELECT sqlite_version()"}


@dataclass(frozen=True, slots=True)
class Measured:
    """The samples of one workload, in the order in which they were taken."""

    name: str
    unit: str
    samples: list[float]

    @property
    def median(self) -> float:
        """The sample in the middle."""
        return median(self.samples)


async def measure(url: str, scale: Scale, workloads: Iterable[Workload]) -> AsyncIterator[Measured]:
    """Measure workloads one after the other on a database that holds no tasks.

    Raises: UsageError where it holds some: they would be measured as well, and removed.
    """
    async with Oxpull(url) as ox:
        await ox.migrate()
        await require_empty(ox)
        bench = Bench(ox, url, scale)
        for workload in workloads:
            samples = []
            for _ in range(scale.repeats):
                samples.append(await workload.run(bench))
                await bench.empty()
            yield Measured(workload.name, workload.unit, samples)


async def require_empty(ox: Oxpull) -> None:
    where = ox.database.label
    async with ox.transaction() as tx:
        for kind in ("task", "batch", "workflow", "schedule"):
            [[count]] = await tx.fetch(f"SELECT count(*) FROM oxpull_{kind}")
            if count:
                raise UsageError(f"{where} holds {count} {kind}(s): benchmarks need a database of their own")


async def circumstances(url: str, scale: Scale) -> dict[str, Any]:
    """Say on what and with which settings is measured."""
    async with Oxpull(url) as ox, ox.transaction() as tx:
        dialect = ox.database.dialect.name
        [[server]] = await tx.fetch(SERVER[dialect])
        rows = [row for query in SETTINGS[dialect] for row in await tx.fetch(query)]
        database = ox.database.label
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "database": database,
        "dialect": dialect,
        "server": str(server),
        "settings": {str(row[0]): str(row[1]) for row in rows},
        "processor": fact("/proc/cpuinfo", "model name"),
        "memory": fact("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "packages": {name: found for name in PACKAGES if (found := installed(name))},
        "sqlite_library": sqlite3.sqlite_version,
        "scale": asdict(scale),
    }


def fact(path: str, name: str) -> str | None:
    """Read a fact about the machine where the kernel tells it in a file."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
