"""From a URL to a database: the one place that knows which driver serves which scheme."""

import os
from dataclasses import replace
from importlib import import_module
from typing import Any

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.settings import USUAL_POOL_SIZE, SettingsKeywords
from oxpull_async.drivers.url import DatabaseUrl, parse_url
from oxpull_async.drivers.url_options import find_option

ENVIRONMENT = "OXPULL_DATABASE_URL"
_DRIVERS = {
    "postgres": ("oxpull_async.drivers.asyncpg", "AsyncpgDatabase"),
    "mysql": ("oxpull_async.drivers.aiomysql", "AiomysqlDatabase"),
    "sqlite": ("oxpull_async.drivers.aiosqlite", "AiosqliteDatabase"),
}
_KEYWORDS = {"pool_size": USUAL_POOL_SIZE, "pooler": "session", "listen_url": None}


def open_database(url: str | None, settings: SettingsKeywords) -> Database:
    """Return the database of a URL, by default that of OXPULL_DATABASE_URL.

    Nothing is connected yet.

    Raises: UsageError for a missing or malformed URL, or when the driver's library is not installed.
    """
    text = url or os.environ.get(ENVIRONMENT)
    if not text:
        raise UsageError(f"no database: pass a URL to Oxpull(…) or set {ENVIRONMENT}, for example sqlite:///tasks.db")
    return open_url(with_options(parse_url(text), settings))


def open_url(url: DatabaseUrl) -> Database:
    """Return the database of a URL that was read before; nothing is connected yet.

    Raises: UsageError when the driver's library is not installed.
    """
    try:
        return _driver(url)
    except ImportError as missing:
        raise UsageError(
            f"the driver for {url.masked} is not installed ({missing.name}): install oxpull-async[{url.family}]"
        ) from missing


def with_options(url: DatabaseUrl, settings: SettingsKeywords) -> DatabaseUrl:
    """Return the URL with Oxpull's pool and pooler settings where it says none itself.

    Raises: UsageError for a value out of range, or one that this database cannot have.
    """
    given: dict[str, Any] = {}
    for name, default in _KEYWORDS.items():
        value = settings.get(name, default)
        if value != default and name not in url.options:
            given[name] = find_option(url.family, name).read(str(value))
    return replace(url, options={**given, **url.options}) if given else url


def _driver(url: DatabaseUrl) -> Database:
    module, name = _DRIVERS[url.family]
    database: Database = getattr(import_module(module), name)(url)
    return database
