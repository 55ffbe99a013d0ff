"""Read database URLs, and never show their passwords.

What options there are is in `url_options`; what a driver does with them is the driver's business.
"""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NoReturn
from urllib.parse import quote, unquote

from oxpull_async.domain.errors import UsageError
from oxpull_async.drivers.url_options import OPTIONS, Family, OptionValue, UrlOption, find_option

__all__ = [
    "OPTIONS",
    "DatabaseUrl",
    "Family",
    "OptionValue",
    "UrlOption",
    "mask",
    "parse_url",
    "ssl_context",
    "unverified_context",
]

_FAMILIES: Mapping[str, Family] = MappingProxyType(
    {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql", "mariadb": "mysql", "sqlite": "sqlite"}
)
_DRIVERS: Mapping[Family, str] = MappingProxyType({"postgres": "asyncpg", "mysql": "aiomysql", "sqlite": "aiosqlite"})
_PORTS: Mapping[Family, int | None] = MappingProxyType({"postgres": 5432, "mysql": 3306, "sqlite": None})
_EXAMPLES = "postgresql://user:password@host:5432/database, mysql://user:password@host/database or sqlite:///tasks.db"
_ENCODE = "In user names and passwords write : / ? # @ and % as %3A %2F %3F %23 %40 and %25."

_HURRIED_SECONDS = 2.0

_SHAPE = re.compile(r"([A-Za-z][A-Za-z0-9]*)(?:\+([A-Za-z0-9_]*))?://([^/?#]*)(?:/([^?#]*))?(?:\?([^#]*))?")
_AUTHORITY = re.compile(
    r"(?:(?P<user>[^:]*)(?::(?P<password>.*))?@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:@\[\]]*)(?::(?P<port>[0-9]*))?"
)
_SECRET_OPTION = re.compile(r"([?&][^=&#]*(?:pass|pwd|secret|token|key|listen_url)[^=&#]*=)[^&#]*", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatabaseUrl:
    """Hold the parts of a database URL; as text it shows no password.

    `host` is a folder for PostgreSQL's Unix socket. `options` has what the URL said; ask `integer`, `seconds` and
    `text` for values with the defaults filled in.
    """

    family: Family
    database: str
    host: str | None = None
    port: int | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)

    @property
    def masked(self) -> str:
        """Show the URL with `***` in place of every password."""
        scheme = "postgresql" if self.family == "postgres" else self.family
        return f"{scheme}://{self._masked_authority()}/{quote(self.database, safe='/:')}{self._masked_query()}"

    def __str__(self) -> str:
        return self.masked

    def __repr__(self) -> str:
        return f"DatabaseUrl({self.masked!r})"

    def integer(self, name: str) -> int:
        """Give a whole-number option, or its default."""
        value = self._value(name)
        if not isinstance(value, int):
            raise TypeError(f"{name} is no whole number")
        return value

    def seconds(self, name: str) -> float:
        """Give an option in seconds, or its default."""
        value = self._value(name)
        if not isinstance(value, int | float):
            raise TypeError(f"{name} is no number of seconds")
        return float(value)

    def text(self, name: str) -> str | None:
        """Give a text option, or its default; None where it has none."""
        value = self._value(name)
        return None if value is None else str(value)

    def hurried(self) -> "DatabaseUrl":
        """Give the same URL with 2 s to connect, where it does not say how long that may take."""
        return replace(self, options={"connect_timeout": _HURRIED_SECONDS, **self.options})

    def _value(self, name: str) -> OptionValue | None:
        return self.options.get(name, find_option(self.family, name).default)

    def _masked_authority(self) -> str:
        user = "" if self.user is None else quote(self.user, safe="")
        secret = "" if self.password is None else ":***"
        at = "@" if user or secret else ""
        if self.host is None or self.host.startswith("/"):
            return f"{user}{secret}{at}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{user}{secret}{at}{host}:{self.port}"

    def _masked_query(self) -> str:
        shown = (
            f"{name}={mask(str(value)) if name.endswith('url') else quote(str(value), safe='/:')}"
            for name, value in self.options.items()
        )
        return "?" + "&".join(shown) if self.options else ""


def mask(text: str) -> str:
    """Put `***` for whatever may be a password in a URL, however malformed the URL is.

    Hides rather too much than too little: all from the first colon after `://` to the last @.
    """
    start = text.find("://")
    start = 0 if start < 0 else start + 3
    head, rest = text[:start], _SECRET_OPTION.sub(r"\1***", text[start:])
    colon, at = rest.find(":"), rest.rfind("@")
    if 0 <= colon < at:
        rest = f"{rest[:colon]}:***{rest[at:]}"
    elif at < 0 and not rest.startswith(("[", "/")):
        rest = re.sub(r"^([^:/?#]*):(?![0-9]{1,5}(?:[/?#]|$)).*", r"\1:***", rest, flags=re.DOTALL)
    return _CONTROL.sub("?", head + rest)


def parse_url(text: str, *, allow_memory: bool = False) -> DatabaseUrl:
    """Read a database URL; `allow_memory` is the test kit's leave to use `:memory:`.

    Raises UsageError, which names the rule and the way out and shows the URL with its passwords masked.
    """
    shape = _SHAPE.fullmatch(text.strip())
    if shape is None or _CONTROL.search(text.strip()):
        _refuse(text, f"it should look like {_EXAMPLES}. {_ENCODE}")
    scheme, driver, authority, path, query = shape.groups(default="")
    family = _family(text, scheme.lower(), driver.lower())
    if family != "sqlite":
        return _server_url(text, family, (authority, path, query))
    if authority:
        _refuse(text, "a SQLite URL has three slashes before a relative path and four before an absolute one")
    file = _file(text, path, allow_memory=allow_memory)
    return DatabaseUrl(family=family, database=file, options=_options(text, family, query))


def _refuse(text: str, reason: str) -> NoReturn:
    raise UsageError(f"The database URL {mask(text.strip())!r} cannot be used: {reason.rstrip('.')}.")


def _family(text: str, scheme: str, driver: str) -> Family:
    family = _FAMILIES.get(scheme)
    if family is None:
        _refuse(text, f"{scheme}:// is no database known here; use {_EXAMPLES}")
    ours = _DRIVERS[family]
    if driver not in ("", ours):
        _refuse(text, f"the driver {driver} is not used here but {ours}; write {scheme}:// without +{driver}")
    return family


def _decode(text: str, part: str) -> str:
    decoded = unquote(part)
    if "\N{REPLACEMENT CHARACTER}" in decoded or "\0" in decoded:
        _refuse(text, "a %-escape in it is not UTF-8 text, or is %00")
    return decoded


def _options(text: str, family: Family, query: str) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        option = find_option(family, _decode(text, name))
        if option.name in options:
            _refuse(text, f"it gives {option.name} twice")
        options[option.name] = option.read(_decode(text, value))
    if "listen_url" in options and parse_url(str(options["listen_url"])).family != family:
        _refuse(text, "its listen_url names another kind of database")
    return options


def _file(text: str, path: str, *, allow_memory: bool) -> str:
    file = _decode(text, path)
    if file in ("", ":memory:"):
        if allow_memory:
            return ":memory:"
        _refuse(
            text,
            "a database in memory belongs to one connection, so neither the pool nor a worker would see the tasks; "
            "name a file, as in sqlite:///tasks.db",
        )
    if file.startswith("file:"):
        _refuse(text, "SQLite's own file: URIs are not supported; name the file, as in sqlite:///tasks.db")
    return file


def _server_url(text: str, family: Family, parts: tuple[str, str, str]) -> DatabaseUrl:
    authority, path, query = parts
    found = _AUTHORITY.fullmatch(authority)
    if found is None or "@" in path or "/" in path:
        _refuse(text, f"its user, password, host, port or database name is malformed. {_ENCODE}")
    if not path:
        _refuse(text, "it names no database; add it after the host, as in …/database")
    user, password = found["user"], found["password"]
    options = _options(text, family, query)
    return DatabaseUrl(
        family=family,
        database=_decode(text, path),
        host=_host(text, _decode(text, found["host"].strip("[]")), options),
        port=_port(text, family, found["port"]),
        user=_decode(text, user) if user else None,
        password=None if password is None else _decode(text, password),
        options=options,
    )


def _host(text: str, host: str, options: dict[str, OptionValue]) -> str | None:
    if "," in host:
        _refuse(text, "it names several hosts; name one")
    for name in ("host", "unix_socket"):
        if name in options and host not in ("", "localhost", options[name]):
            _refuse(text, f"it names a host before the database and another place with {name}=; keep one")
    if "host" in options:
        return str(options["host"])
    return host or None


def _port(text: str, family: Family, port: str | None) -> int | None:
    if not port:
        return _PORTS[family]
    if len(port) <= 5 and 1 <= int(port) <= 65_535:  # noqa: PLR2004 - the range of TCP
        return int(port)
    _refuse(text, "its port is not a number from 1 to 65535")


def ssl_context(url: DatabaseUrl) -> ssl.SSLContext | bool | None:
    """Build the TLS setting: a context, False for plain text, None to try TLS unverified.

    With None the user is content with plain text too, and `unverified_context` is what to try; with a context the
    driver must refuse to go on without TLS.
    """
    if url.family == "sqlite":
        return False
    prefix, root = ("ssl", "sslrootcert") if url.family == "postgres" else ("ssl_", "ssl_ca")
    names = (root, f"{prefix}cert", f"{prefix}key")
    mode = (url.text(f"{prefix}mode") or "").replace("_", "-")
    given = [name for name in names if name in url.options]
    if mode in ("disable", "disabled", "prefer", "preferred"):
        if given:
            raise UsageError(f"{given[0]} has no effect with {prefix}mode={mode}: choose a stricter {prefix}mode.")
        return False if mode.startswith("dis") else None
    if f"{prefix}key" in given and f"{prefix}cert" not in given:
        raise UsageError(f"{prefix}key is the key of a certificate: give {prefix}cert as well.")
    return _context(
        url, names, verifies=mode.startswith("verify"), checks_host=mode in ("verify-full", "verify-identity")
    )


def _context(url: DatabaseUrl, names: tuple[str, str, str], *, verifies: bool, checks_host: bool) -> ssl.SSLContext:
    root, cert, key = (url.text(name) for name in names)
    try:
        context = ssl.create_default_context(cafile=root)
        if cert is not None:
            context.load_cert_chain(cert, key, password=_no_passphrase)
    except OSError as error:
        given = ", ".join(f"{name}={url.options[name]}" for name in names if name in url.options)
        raise UsageError(f"TLS cannot be set up with {given}: {error}.") from error
    context.check_hostname = checks_host
    if not verifies and root is None:
        context.verify_mode = ssl.CERT_NONE
    return context


def _no_passphrase() -> NoReturn:
    raise OSError("the key is encrypted; give one without a passphrase")


def unverified_context() -> ssl.SSLContext:
    """Build a context that encrypts and believes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
