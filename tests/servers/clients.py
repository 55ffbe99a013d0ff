"""Blocking clients for one statement at a time: enough to find a server and to make databases."""

from collections.abc import Sequence
from contextlib import closing
from urllib.parse import unquote, urlsplit

import psycopg
import pymysql

from tests.servers.facts import FACTS, Kind, ServerUnavailable

CONNECT_SECONDS = 5


def run(kind: Kind, url: str, *statements: str) -> Sequence[Sequence[object]]:
    """Run statements, each in a transaction of its own; the answer is the last one's rows."""
    try:
        return _run_postgres(url, statements) if kind == "postgres" else _run_mysql(url, statements)
    except (psycopg.Error, pymysql.Error) as error:
        raise ServerUnavailable(str(error).strip()) from error


def version(kind: Kind, url: str) -> str:
    """Ask for the server's version; ServerUnavailable if it cannot serve the tests."""
    facts = FACTS[kind]
    if not run(kind, url, facts.may_create)[0][0]:
        raise ServerUnavailable("this account may not create databases")
    return str(run(kind, url, "SELECT version()")[0][0]).removeprefix("PostgreSQL ").split(" ")[0]


def _run_postgres(url: str, statements: Sequence[str]) -> Sequence[Sequence[object]]:
    with psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def _run_mysql(url: str, statements: Sequence[str]) -> Sequence[Sequence[object]]:
    parts = urlsplit(url)
    connection = pymysql.connect(
        host=parts.hostname or "127.0.0.1",
        port=parts.port or 3306,
        user=unquote(parts.username or "root"),
        password=unquote(parts.password or ""),
        database=parts.path.lstrip("/") or None,
        connect_timeout=CONNECT_SECONDS,
        autocommit=True,
    )
    with closing(connection), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall()
