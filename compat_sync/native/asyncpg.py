"""Read a DATABASES entry as psycopg's libpq does, for asyncpg.

Not here: how service files are found and read (`native_service`).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compat_sync.native.entry import Draft, Reading, Setting, Settings, Surroundings, collect
from compat_sync.native.service import VARIABLES, UnknownService, service_settings
from oxpull_async.drivers.url import DatabaseUrl

__all__ = ["read_asyncpg"]

_KEYS = {"USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
# Read below, or about Django's own cursors and Python objects only.
_KNOWN = frozenset(
    "dbname user password host port passfile service servicefile connect_timeout application_name "  # noqa: SIM905
    "fallback_application_name options assume_role target_session_attrs sslmode sslrootcert sslcert sslkey pool "
    "keepalives_idle keepalives_interval keepalives_count isolation_level server_side_binding prepare_threshold "
    "client_encoding cursor_factory row_factory context autocommit connection_factory".split()
)
_SAME = {
    "channel_binding": frozenset({"prefer", "disable"}),
    "gssencmode": frozenset({"prefer", "disable"}),
    "gssdelegation": frozenset({"0"}),
    "keepalives": frozenset({"1"}),
    "load_balance_hosts": frozenset({"disable"}),
    "sslcertmode": frozenset({"allow"}),
    "sslcompression": frozenset({"0"}),
    "sslnegotiation": frozenset({"postgres"}),
    "sslsni": frozenset({"1"}),
    "ssl_min_protocol_version": frozenset({"tlsv1.2"}),
}
_WAYS = {
    "hostaddr": "Put the address into HOST",
    "sslpassword": "Give a key without a passphrase",
    "krbsrvname": "Let the server take a password or a certificate from this user",
}
_LOOSE = frozenset({"disable", "prefer"})
_HOME_FILES = {
    "sslrootcert": "root.crt",
    "sslcert": "postgresql.crt",
    "sslkey": "postgresql.key",
    "sslcrl": "root.crl",
}
_OWN_HOME = ".postgresql"
_ENDLESS = re.compile("-[0-9]+|0+")
_FOR_EVER = 86_400


def read_asyncpg(alias: str, entry: Mapping[str, Any], around: Surroundings) -> Reading:
    """Turn an entry into the URL of the server that Django reaches, or say why not."""
    try:
        settings = _settings(alias, entry, around)
    except UnknownService as error:
        return Reading(None, (str(error),))
    draft = Draft("postgres", settings)
    _read_place(draft)
    _read_session(draft)
    _read_tls(draft, around)
    _read_pool(draft)
    draft.refuse_others(_KNOWN, _SAME, _WAYS)
    return draft.finish(lambda: _url(draft))


def _settings(alias: str, entry: Mapping[str, Any], around: Surroundings) -> Settings:
    """Put together what the entry says, then its service, then the environment."""
    said = collect(alias, entry, _KEYS)
    name = Setting(entry["NAME"], f"DATABASES[{alias!r}]['NAME']")
    if name.value is None:
        said.pop("service", None)
        name = replace(name, value="postgres")
    named = {"dbname": name} if name.value else {}
    said = {**named, **said}
    return {**around.variables(VARIABLES), **service_settings(said, around), **said}


def _url(draft: Draft) -> DatabaseUrl:
    return DatabaseUrl(
        family=draft.family,
        database=draft.text("dbname") or draft.text("user") or "",
        host=draft.text("host"),
        port=draft.port() or 5432,
        user=draft.text("user"),
        password=draft.text("password"),
        options=draft.options,
    )


def _read_place(draft: Draft) -> None:
    draft.port()
    draft.text("password")
    host = draft.text("host") or ""
    if "," in host:
        draft.refuse("host", "the native driver takes one host", "Name one, such as a balancer's or a virtual address")
    if host.startswith("@"):
        draft.refuse("host", "the native driver knows no abstract sockets", "Name the folder of a socket file")
    if not (draft.text("dbname") or draft.text("user")):
        draft.problems.append("No database is named. Say NAME, or a service that has a dbname.")
    draft.option("target_session_attrs", "target_session_attrs")
    draft.option("passfile", "passfile")


def _read_session(draft: Draft) -> None:
    for key in ("fallback_application_name", "application_name"):
        draft.option("application_name", key)
    endless = _ENDLESS.fullmatch(draft.text("connect_timeout") or "")
    draft.option("connect_timeout", "connect_timeout", _FOR_EVER if endless else None)
    for key in ("keepalives_idle", "keepalives_interval", "keepalives_count"):
        if draft.text(key) not in (None, "0"):
            draft.option(key, key)
    role = draft.text("assume_role")
    becoming = None if role is None else "-c role=" + role.replace("\\", r"\\").replace(" ", r"\ ")
    flags = " ".join(filter(None, (draft.text("options"), becoming)))
    if flags:
        draft.options["options"] = flags


def _read_tls(draft: Draft, around: Surroundings) -> None:
    mode = draft.text("sslmode") or ("verify-full" if draft.text("sslrootcert") == "system" else "prefer")
    # libpq's `allow` tries plain text first; what is reached is the same.
    mode = "prefer" if mode == "allow" else mode
    draft.settings.setdefault("sslmode", Setting(mode, "the usual sslmode"))
    draft.option("sslmode", "sslmode", mode)
    if mode in _LOOSE:
        for key in ("sslrootcert", "sslcert"):
            if mode == "prefer" and key in draft.settings:
                draft.refuse(
                    key, "it has no effect here while sslmode is 'prefer'", "Say sslmode 'verify-full' as well"
                )
        return
    for key, given in _files_at_home(around.home).items():
        draft.settings.setdefault(key, given)
    if draft.text("sslrootcert") != "system":
        draft.option("sslrootcert", "sslrootcert")
    if "sslcert" in draft.settings:
        draft.option("sslcert", "sslcert")
        draft.option("sslkey", "sslkey")


def _files_at_home(home: Path) -> Settings:
    """Find the certificates that libpq takes from the user's own folder."""
    paths = {key: home / _OWN_HOME / name for key, name in _HOME_FILES.items()}
    return {key: Setting(str(path), f"{key} at its usual place") for key, path in paths.items() if path.is_file()}


def _read_pool(draft: Draft) -> None:
    pool = draft.settings["pool"].value if "pool" in draft.settings else None
    if isinstance(pool, Mapping):
        size = pool.get("max_size") or pool.get("min_size")
        if size:
            draft.option("pool_size", "pool", size)
        if pool.get("timeout"):
            draft.option("acquire_timeout", "pool", pool["timeout"])
