"""Configure Django for the tests, and add database aliases to it while it runs."""

import sys
from typing import Any

import django
import pymysql
from django.conf import settings
from django.db import connections

from oxpull_async.drivers.url import DatabaseUrl, parse_url

ENGINES = {"postgres": "postgresql", "mysql": "mysql", "sqlite": "sqlite3"}


def configure() -> None:
    """Set Django up once for this process; PyMySQL stands in for mysqlclient, which needs a compiler."""
    if settings.configured:
        return
    install_pymysql()
    settings.configure(
        DATABASES={"default": {}},
        INSTALLED_APPS=[
            "django.contrib.admin",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.messages",
            "django.contrib.sessions",
            "compat_sync",
        ],
        DATABASE_ROUTERS=["tests.compat.routing.CurrentRouter"],
        TASKS={"default": {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": []}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        TIME_ZONE="Europe/Vienna",
        SECRET_KEY="for tests only",
        LOGGING_CONFIG=None,
    )
    django.setup()


def install_pymysql() -> None:
    """Put PyMySQL in mysqlclient's place; its submodules too, or they are imported twice and raise other classes."""
    pymysql.install_as_MySQLdb()
    for name in ("err", "converters", "constants"):
        sys.modules[f"MySQLdb.{name}"] = sys.modules[f"pymysql.{name}"]


def add_alias(alias: str, url: str, **options: object) -> None:
    """Let Django reach a database under an alias; `options` are those of its DATABASES entry's OPTIONS."""
    configure()
    entry = entry_of(parse_url(url)) | {"OPTIONS": options}
    connections.databases[alias] = connections.configure_settings({"default": {}, alias: entry})[alias]


def drop_alias(alias: str) -> None:
    """Close an alias's connection and forget it."""
    connections[alias].close()
    del connections[alias]
    del connections.databases[alias]


def entry_of(url: DatabaseUrl) -> dict[str, Any]:
    entry: dict[str, Any] = {"ENGINE": f"django.db.backends.{ENGINES[url.family]}", "NAME": url.database}
    if url.family != "sqlite":
        entry |= {
            "HOST": url.host or "",
            "PORT": url.port or "",
            "USER": url.user or "",
            "PASSWORD": url.password or "",
        }
    return entry
