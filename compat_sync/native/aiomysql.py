"""Read a DATABASES entry as mysqlclient or PyMySQL does, for aiomysql."""

import re
from collections.abc import Mapping
from configparser import Error, RawConfigParser
from pathlib import Path
from typing import Any

from compat_sync.native.entry import Draft, Reading, Setting, Surroundings, collect
from oxpull_async.drivers.url import DatabaseUrl

__all__ = ["SOCKETS", "read_aiomysql"]

SOCKETS = tuple(map(Path, ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")))  # noqa: S108
_KEYS = {"NAME": "database", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
_VARIABLES = {"MYSQL_PWD": "password", "MYSQL_TCP_PORT": "port", "MYSQL_UNIX_PORT": "unix_socket"}
# Read below; or ours whatever is said: utf8mb4, READ COMMITTED, a strict sql_mode; or about Django's own statements.
_KNOWN = frozenset(
    "database db user password passwd host port unix_socket read_default_file read_default_group "  # noqa: SIM905
    "connect_timeout init_command ssl ssl_mode ssl_ca ssl_cert ssl_key ssl_disabled ssl_verify_cert "
    "ssl_verify_identity ssl_verify_server_cert ssl_check_hostname charset collation isolation_level sql_mode "
    "use_unicode conv cursorclass autocommit multi_statements program_name local_infile binary_prefix".split()
)
_SAME = {
    "client_flag": frozenset({"0", "2"}),
    "compress": frozenset({"0"}),
    "named_pipe": frozenset({"0"}),
    "protocol": frozenset({"tcp", "socket"}),
}
_WAYS = {
    "read_timeout": "Let the server end what takes too long, by max_statement_time in init_command",
    "ssl_password": "Give a key without a passphrase",
}
_OLD_NAMES = {"db": "database", "passwd": "password"}
_FILE_NAMES = {"socket": "unix_socket", "pass": "password", "default_character_set": "charset"}
# Of an option file only these matter to a client library; it passes over what it does not know.
_FILE_KEYS = frozenset(
    "host port user password database unix_socket charset connect_timeout init_command ssl ssl_ca ssl_cert "  # noqa: SIM905
    "ssl_key ssl_mode ssl_capath ssl_cipher ssl_crl ssl_crlpath ssl_verify_server_cert tls_version "
    "tls_ciphersuites compress default_auth protocol bind_address".split()
)
_TLS_FILES = ("ssl_ca", "ssl_cert", "ssl_key")
_IDENTITY = ("ssl_verify_identity", "ssl_check_hostname", "ssl_verify_server_cert")
_LOOSE = frozenset({"disabled", "preferred"})
_NO = frozenset({"", "0", "false", "off", "no"})
_ENCODING = re.compile(
    r"\b(?:names|character\s+set|charset|character_set_\w+)\b(?!\s*=?\s*['\"]?utf8mb4)", re.IGNORECASE
)


def read_aiomysql(alias: str, entry: Mapping[str, Any], around: Surroundings) -> Reading:
    """Turn an entry into the URL of the server that Django reaches, or say why not."""
    said = collect(alias, entry, _KEYS, options_win=True)
    for old, name in _OLD_NAMES.items():
        if old in said:
            said.setdefault(name, said[old])
    if "host" in said and str(said["host"].value).startswith("/"):
        said.setdefault("unix_socket", said.pop("host"))
    draft = Draft("mysql", said)
    _add_file(draft, around)
    draft.settings = {**around.variables(_VARIABLES if around.sockets is not None else {}), **draft.settings}
    _unfold_tls(draft)
    _read_session(draft)
    _read_tls(draft)
    host, socket = _place(draft, around)
    if socket is not None:
        draft.options["unix_socket"] = socket
    draft.refuse_others(_KNOWN, _SAME, _WAYS)
    return draft.finish(lambda: _url(draft, host))


def _url(draft: Draft, host: str | None) -> DatabaseUrl:
    return DatabaseUrl(
        family=draft.family,
        database=draft.text("database") or "",
        host=host,
        port=draft.port() or 3306,
        user=draft.text("user"),
        password=draft.text("password"),
        options=draft.options,
    )


def _add_file(draft: Draft, around: Surroundings) -> None:
    """Add what the option file says where the entry says nothing."""
    name = draft.text("read_default_file")
    if name is None:
        if "read_default_group" in draft.settings:
            draft.refuse("read_default_group", "it needs read_default_file here", "Name the file as well")
        return
    path = around.home / name[2:] if name.startswith("~/") else Path(name)
    try:
        found = _options_of(path, draft.text("read_default_group"))
    except (OSError, UnicodeDecodeError, Error) as error:
        draft.refuse("read_default_file", f"it cannot be read ({type(error).__name__})", "Correct it")
        return
    if any(key.startswith("!") for key in found):
        draft.refuse("read_default_file", "it includes other files", "Name the file that has the options")
    for key, value in found.items():
        if key in _FILE_KEYS and value:
            draft.settings.setdefault(key, Setting(value, f"{key.replace('_', '-')} in {path}"))


def _options_of(path: Path, group: str | None) -> dict[str, str]:
    parser = RawConfigParser(
        allow_no_value=True,
        strict=False,
        delimiters=("=",),
        comment_prefixes=("#", ";"),
        inline_comment_prefixes=("#",),
    )
    parser.read_string(path.read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for section in ("client", "client-server", "client-mariadb", group):
        values: Mapping[str, str | None] = parser[section] if section and parser.has_section(section) else {}
        for key, value in values.items():
            name = key.replace("-", "_")
            found[_FILE_NAMES.get(name, name)] = "1" if value is None else value.strip("'\"")
    return found


def _place(draft: Draft, around: Surroundings) -> tuple[str | None, str | None]:
    """Return the host, and the Unix socket where it is one that the client library would take."""
    draft.port()
    draft.text("password")
    if draft.text("database") is None:
        draft.problems.append("No database is named. Say NAME.")
    host, socket = draft.text("host"), draft.text("unix_socket")
    if around.sockets is None:
        return (host, None) if socket is None else (None, socket)
    if host not in (None, "localhost") or draft.text("protocol") == "tcp":
        return host, None
    # libmysqlclient takes `localhost` for the socket whose place it was built with, which it tells nobody.
    found = socket or next((str(path) for path in around.sockets if path.is_socket()), None)
    return (host, None) if found is None else (None, found)


def _read_session(draft: Draft) -> None:
    if draft.text("connect_timeout") not in (None, "0"):
        draft.option("connect_timeout", "connect_timeout")
    command = draft.text("init_command")
    if command is not None and _ENCODING.search(command):
        draft.refuse("init_command", "the native driver speaks utf8mb4 only", "Take the character set out of it")
    elif command is not None:
        draft.option("init_command", "init_command")


def _unfold_tls(draft: Draft) -> None:
    """Spread the `ssl` dict over the keys that say the same."""
    given = draft.settings.get("ssl")
    if given is None or isinstance(given.value, bool | int | str):
        return
    if not isinstance(given.value, Mapping):
        draft.refuse("ssl", "the native driver makes its own context", "Name the files: ca, cert and key")
        return
    for key, value in given.value.items():
        if value:
            draft.settings.setdefault(f"ssl_{key}", Setting(value, f"{given.origin}[{key!r}]"))


def _read_tls(draft: Draft) -> None:
    mode = _tls_mode(draft)
    if mode is None:
        return
    files = [key for key in _TLS_FILES if key in draft.settings]
    for key in files:
        if mode not in _LOOSE:
            draft.option(key, key)
        elif mode == "preferred":
            draft.refuse(key, "it has no effect here with ssl_mode PREFERRED", "Say ssl_mode VERIFY_IDENTITY as well")
    draft.settings.setdefault("ssl_mode", Setting(mode, "ssl_mode"))
    draft.option("ssl_mode", "ssl_mode", mode)


def _tls_mode(draft: Draft) -> str | None:
    """Return the mode that the settings come to: what `ssl` says without a mode is never made weaker."""
    said = draft.text("ssl_mode")
    if said is not None:
        return said.lower().replace("-", "_")
    if _is_true(draft, "ssl_disabled"):
        return "disabled"
    if any(_is_true(draft, key) for key in _IDENTITY):
        return "verify_identity"
    if _is_true(draft, "ssl_verify_cert"):
        return "verify_ca"
    return "required" if any(_is_true(draft, key) for key in ("ssl", *_TLS_FILES)) else None


def _is_true(draft: Draft, key: str) -> bool:
    value = draft.settings[key].value if key in draft.settings else False
    return value.lower() not in _NO if isinstance(value, str) else bool(value)
