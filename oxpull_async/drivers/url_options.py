"""Declare the options that a database URL may carry.

The documentation's table is made from `OPTIONS`. What follows from an option is the business of `url`.
"""

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from oxpull_async.domain.errors import UsageError

__all__ = ["OPTIONS", "Family", "OptionValue", "UrlOption", "find_option"]

type Family = Literal["postgres", "mysql", "sqlite"]
type OptionValue = str | int | float

_ALL: tuple[Family, ...] = ("postgres", "mysql", "sqlite")
_SERVERS: tuple[Family, ...] = ("postgres", "mysql")
_POSTGRES: tuple[Family, ...] = ("postgres",)
_MYSQL: tuple[Family, ...] = ("mysql",)
_SQLITE: tuple[Family, ...] = ("sqlite",)
_LONGEST_SECONDS = 86_400
_LARGEST_INTEGER = 1_000


@dataclass(frozen=True, slots=True)
class UrlOption:
    """Describe one option: who understands it, what it takes and what holds without it."""

    name: str
    families: tuple[Family, ...]
    kind: Literal["integer", "seconds", "choice", "text", "path", "url"]
    meaning: str
    default: OptionValue | None = None
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> OptionValue:
        """Turn the option's text into its value, or raise UsageError naming text and rule."""
        match self.kind:
            case "integer":
                return self._integer(text)
            case "seconds":
                return self._seconds(text)
            case "choice":
                return self._choice(text)
            case _:
                if not text:
                    raise UsageError(f"The URL option {self.name} is empty: give it a value or leave it out.")
                return text

    def _integer(self, text: str) -> int:
        if re.fullmatch("[0-9]{1,4}", text) and 1 <= int(text) <= _LARGEST_INTEGER:
            return int(text)
        raise UsageError(f"{self.name}={text!r}: give a whole number from 1 to {_LARGEST_INTEGER}.")

    def _seconds(self, text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if 0 < seconds <= _LONGEST_SECONDS:
            return seconds
        raise UsageError(f"{self.name}={text!r}: give seconds, more than 0 and at most {_LONGEST_SECONDS}.")

    def _choice(self, text: str) -> str:
        if text.lower() in self.choices:
            return text.lower()
        raise UsageError(f"{self.name}={text!r}: choose one of {', '.join(self.choices)}.")


OPTIONS: tuple[UrlOption, ...] = (
    UrlOption("pool_size", _ALL, "integer", "Connections each event loop may hold open.", 10),
    UrlOption("acquire_timeout", _ALL, "seconds", "How long to wait for a free connection of the pool.", 30.0),
    UrlOption("connect_timeout", _ALL, "seconds", "How long opening one connection may take.", 10.0),
    UrlOption(
        "sslmode",
        _POSTGRES,
        "choice",
        "TLS as in libpq: `prefer` falls back to plain text, `require` checks the certificate only with `sslrootcert`.",
        "prefer",
        ("disable", "prefer", "require", "verify-ca", "verify-full"),
    ),
    UrlOption("sslrootcert", _POSTGRES, "path", "File of the authorities to trust instead of the system's."),
    UrlOption("sslcert", _POSTGRES, "path", "File of the client's certificate."),
    UrlOption("sslkey", _POSTGRES, "path", "File of the client's key, if it is not in `sslcert`."),
    UrlOption("host", _POSTGRES, "text", "Folder of the Unix socket, or the host's name."),
    UrlOption("passfile", _POSTGRES, "path", "File of passwords, read where none is given; `~/.pgpass` unless named."),
    UrlOption("application_name", _POSTGRES, "text", "Name shown in `pg_stat_activity`.", "oxpull"),
    UrlOption("options", _POSTGRES, "text", "Settings of the session, written as `-c search_path=tasks`."),
    UrlOption(
        "target_session_attrs",
        _POSTGRES,
        "choice",
        "`primary` and `read-write` refuse a server that is a standby.",
        None,
        ("any", "primary", "read-write"),
    ),
    UrlOption("keepalives_idle", _POSTGRES, "seconds", "Silence after which the kernel asks whether the peer lives."),
    UrlOption("keepalives_interval", _POSTGRES, "seconds", "How long it waits before it asks again."),
    UrlOption("keepalives_count", _POSTGRES, "integer", "How often it asks in vain before the connection is lost."),
    UrlOption(
        "pooler",
        _POSTGRES,
        "choice",
        "`transaction` behind a pooler that changes servers between transactions: no prepared statements, no LISTEN.",
        "session",
        ("session", "transaction"),
    ),
    UrlOption(
        "listen_url", _POSTGRES, "url", "Direct connection for LISTEN, where the main one goes through a pooler."
    ),
    UrlOption(
        "ssl_mode",
        _MYSQL,
        "choice",
        "TLS: `preferred` falls back to plain text, `required` checks the certificate only with `ssl_ca`.",
        "preferred",
        ("disabled", "preferred", "required", "verify_ca", "verify_identity"),
    ),
    UrlOption("ssl_ca", _MYSQL, "path", "File of the authorities to trust instead of the system's."),
    UrlOption("ssl_cert", _MYSQL, "path", "File of the client's certificate."),
    UrlOption("ssl_key", _MYSQL, "path", "File of the client's key, if it is not in `ssl_cert`."),
    UrlOption("unix_socket", _MYSQL, "path", "Path of the server's Unix socket."),
    UrlOption("init_command", _MYSQL, "text", "SQL for each new connection, before the session is set up."),
    UrlOption("charset", _MYSQL, "choice", "Always utf8mb4.", "utf8mb4", ("utf8mb4",)),
    UrlOption("journal_mode", _SQLITE, "choice", "SQLite's journal.", "wal", ("wal", "delete", "truncate", "persist")),
    UrlOption(
        "synchronous",
        _SQLITE,
        "choice",
        "When SQLite waits for the disk; below `full` a power cut may lose the last commits.",
        "full",
        ("off", "normal", "full", "extra"),
    ),
    UrlOption("busy_timeout", _SQLITE, "seconds", "How long a writer waits for another one.", 5.0),
)


def find_option(family: Family, name: str) -> UrlOption:
    """Find the option a URL of this family names, or raise UsageError naming the nearest one."""
    known = {option.name: option for option in OPTIONS if family in option.families}
    if name in known:
        return known[name]
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_.-]{0,39}", name):
        raise UsageError(
            "The part of the URL after ? is not a list of name=value pairs. "
            "If ? belongs to the password, write it as %3F."
        )
    others = [option.name for option in OPTIONS if option.name == name]
    if others:
        raise UsageError(f"The URL option {name} is not one of {family}, which knows {', '.join(known)}.")
    nearest = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"Did you mean {nearest[0]}? " if nearest else ""
    raise UsageError(f"Unknown URL option {name} for {family}. {hint}Known are {', '.join(known)}.")
