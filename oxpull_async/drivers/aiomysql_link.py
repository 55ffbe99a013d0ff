"""Our own connections of aiomysql: how one is opened, set up, looked at and dropped.

Not here: the store's commands (`aiomysql`), and what errors mean (`aiomysql_errors`).
"""

import asyncio
import re
import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import aiomysql
from aiomysql.connection import CLIENT

from oxpull_async.drivers.aiomysql_errors import unavailable
from oxpull_async.drivers.aiomysql_wire import Wire
from oxpull_async.drivers.url import DatabaseUrl, ssl_context

_TLS_MISSING = 2026
_MATCHED = re.compile(rb"Rows matched: (\d+)")
_FACTS = "SELECT @@max_allowed_packet, @@innodb_rollback_on_timeout, @@hostname, @@port, VERSION()"
_SET_UP = (
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; "
    "SET time_zone = '+00:00', autocommit = 1, "
    "sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'; "
) + _FACTS


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server said about itself when a connection was opened."""

    max_packet: int
    rollback_on_timeout: bool
    host: str
    port: int
    version: str


class PlainCursor(aiomysql.Cursor):  # type: ignore[misc]
    """A cursor with rows as tuples, which saves the round trip that asks for warnings."""

    @property
    def answer(self) -> Any:
        """What the server answered."""
        return self._result

    async def _show_warnings(self, conn: object) -> None:
        """Ask for nothing: what matters is an error in strict mode."""


class Link(Wire):
    """A connection of our own, which can be told to refuse a server without TLS."""

    def __init__(self, url: DatabaseUrl) -> None:
        self.tls_required, context = _tls(url)
        self._set_up = "; ".join(filter(None, ((url.text("init_command") or "").rstrip("; \n"), _SET_UP)))
        super().__init__(
            host=url.host or "localhost",
            port=url.port,
            user=url.user,
            # aiomysql encodes it as Latin-1; servers hold what clients send, which is UTF-8.
            password=(url.password or "").encode().decode("latin-1"),
            db=url.database,
            unix_socket=url.text("unix_socket"),
            charset="utf8mb4",
            client_flag=CLIENT.FOUND_ROWS,
            autocommit=None,
            ssl=context,
            program_name="oxpull",
        )

    async def open(self) -> ServerFacts:
        """Connect and set the session up, in one round trip after the handshake."""
        await self._connect()
        return facts_of((await self.ask(self._set_up.encode())).rows[0])

    @property
    def is_open(self) -> bool:
        """Whether both ends keep the connection open, as far as can be told without asking."""
        writer, reader = self._writer, self._reader
        return writer is not None and not reader.eof_received and not writer.transport.is_closing()

    def drop(self) -> None:
        """Close the socket at once, on a closed event loop too."""
        writer = self._writer
        if writer is None:
            return
        self._writer: Any = None
        self._reader: Any = None
        try:
            writer.transport.abort()
        except RuntimeError:
            _bury(writer.transport)

    async def _request_authentication(self) -> None:
        if self.tls_required and not self.server_capabilities & CLIENT.SSL:
            raise aiomysql.OperationalError(_TLS_MISSING, "the server offers no TLS, and ssl_mode requires it")
        await super()._request_authentication()


async def connect(url: DatabaseUrl) -> tuple[Link, ServerFacts]:
    """Open a connection and make it ours.

    Raises: DatabaseUnavailable, which names the place and the user and never the password.
    """
    link = Link(url)
    try:
        async with asyncio.timeout(url.seconds("connect_timeout")):
            return link, await link.open()
    except (OSError, EOFError, RuntimeError, aiomysql.Error) as error:
        link.drop()
        raise unavailable(url, error) from error
    except BaseException:
        link.drop()
        raise


def matched_by(answer: Any, affected: int) -> int:
    """Return how many rows a command matched, by what the server says in words where it does."""
    said = _MATCHED.search(getattr(answer, "message", None) or b"")
    return int(said[1]) if said else affected


async def ask_facts(raw: aiomysql.Connection) -> ServerFacts:
    """Ask the server behind a caller's connection for its facts."""
    cursor = PlainCursor(raw)
    await cursor.execute(_FACTS)
    return facts_of(cursor.answer.rows[0])


def facts_of(row: tuple[Any, ...]) -> ServerFacts:
    """Read the row that a server answered about itself."""
    return ServerFacts(int(row[0]), bool(row[1]), str(row[2]), int(row[3]), str(row[4]))


async def kill(url: DatabaseUrl, thread_id: int, server: ServerFacts) -> None:
    """End a session on the server whose command was cancelled, so that its locks go.

    The server would not notice the closed socket before the command is done. Only the very server that runs it is
    asked: behind a balancer the new connection may lead to another one.
    """
    with suppress(Exception):
        link, found = await connect(url)
        try:
            if (found.host, found.port) == (server.host, server.port):
                await link.query(f"KILL {thread_id}")
        finally:
            link.drop()


def _tls(url: DatabaseUrl) -> tuple[bool, ssl.SSLContext | None]:
    context = ssl_context(url)
    if isinstance(context, ssl.SSLContext):
        return True, context
    if context is False or url.text("unix_socket") is not None:
        return False, None
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    return False, unverified


def _bury(transport: Any) -> None:
    """Close the socket under a transport whose loop is closed and will call nobody any more."""
    inner = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None) or transport
    farewell = getattr(inner, "_call_connection_lost", None)
    if farewell is not None:
        with suppress(RuntimeError):
            farewell(None)
