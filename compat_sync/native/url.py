"""From an entry of Django's DATABASES to the URL of a native driver, without a connection.

Which database an entry is for, the vendor of its ENGINE says. What its keys mean, the driver's reader knows.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from compat_sync.native.aiomysql import read_aiomysql
from compat_sync.native.aiosqlite import read_aiosqlite
from compat_sync.native.asyncpg import read_asyncpg
from compat_sync.native.entry import Reading, Surroundings

__all__ = ["LIBRARIES", "read_entry"]

type _Reader = Callable[[str, Mapping[str, Any], Surroundings], Reading]

_READERS: Mapping[str, _Reader] = MappingProxyType(
    {"postgresql": read_asyncpg, "mysql": read_aiomysql, "sqlite": read_aiosqlite}
)
LIBRARIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"postgresql": ("asyncpg", "postgres"), "mysql": ("aiomysql", "mysql"), "sqlite": ("aiosqlite", "sqlite")}
)


def read_entry(alias: str, entry: Mapping[str, Any], vendor: str, around: Surroundings) -> Reading:
    """Read an entry that Django has completed with its defaults."""
    reader = _READERS.get(vendor)
    if reader is not None:
        return reader(alias, entry, around)
    known = ", ".join(_READERS)
    problem = (
        f"DATABASES[{alias!r}]['ENGINE'] is {entry['ENGINE']!r}: there is a native driver for {known} only. "
        "Let routers put the models of compat_sync on such a database."
    )
    return Reading(None, (problem,))
