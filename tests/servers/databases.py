"""Make empty databases on the run's servers, and drop them when this process is done."""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from tests.servers import clients
from tests.servers.facts import Kind, ServerUnavailable, with_database
from tests.servers.session import Session

STRANGERS = "SELECT id FROM information_schema.processlist WHERE db = '{name}' AND id <> connection_id()"


@dataclass(slots=True)
class Databases:
    """The databases that this process made; as a context manager it drops them at the end."""

    session: Session
    made: list[tuple[Kind, str]] = field(default_factory=list)

    def make(self, kind: Kind) -> str:
        """Create an empty database and give its URL; ServerUnavailable if there is no server."""
        name = f"oxpull_test_{os.getpid()}_{secrets.token_hex(4)}"
        server = self.session.server(kind)
        character_set = "ENCODING 'UTF8' TEMPLATE template0" if kind == "postgres" else "CHARACTER SET utf8mb4"
        clients.run(kind, server.url, f"CREATE DATABASE {name} {character_set}")
        self.made.append((kind, name))
        return with_database(server.url, name)

    def drop_all(self) -> None:
        """Drop them all, whoever is still connected."""
        while self.made:
            kind, name = self.made.pop()
            url = self.session.server(kind).url
            if kind == "postgres":
                clients.run(kind, url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            else:
                for row in clients.run(kind, url, STRANGERS.format(name=name)):
                    with suppress(ServerUnavailable):  # it may have left by itself
                        clients.run(kind, url, f"KILL {row[0]}")
                clients.run(kind, url, f"DROP DATABASE IF EXISTS {name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop_all()
