"""Read a DATABASES entry as Python's sqlite3 does, for aiosqlite."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from compat_sync.native.entry import Draft, Reading, Setting, Surroundings, collect
from oxpull_async.drivers.url import DatabaseUrl

__all__ = ["is_for_tests", "read_aiosqlite"]

# Read below, or about Django's own connection only; our transactions are BEGIN IMMEDIATE whatever is said.
_KNOWN = frozenset(
    "timeout init_command transaction_mode check_same_thread detect_types uri factory cached_statements "  # noqa: SIM905
    "isolation_level autocommit".split()
)
# PRAGMAs of one connection's comfort, which change nothing for others.
_COMFORT = frozenset(
    "cache_size cache_spill mmap_size temp_store foreign_keys wal_autocheckpoint journal_size_limit optimize "  # noqa: SIM905
    "analysis_limit automatic_index recursive_triggers threads legacy_alter_table case_sensitive_like "
    "defer_foreign_keys page_size auto_vacuum secure_delete trusted_schema".split()
)
_PRAGMA = re.compile(r"PRAGMA\s+(?:main\.)?(\w+)\s*(?:(?:=\s*|\()\s*['\"]?([\w.+-]+)['\"]?\s*\)?)?", re.IGNORECASE)
_SYNCHRONOUS = {"0": "off", "1": "normal", "2": "full", "3": "extra"}
_SHORTEST = 0.001


def read_aiosqlite(alias: str, entry: Mapping[str, Any], around: Surroundings) -> Reading:  # noqa: ARG001 - sqlite3 looks nowhere else
    """Turn an entry into the URL of the file that Django opens, or say why that cannot be."""
    draft = Draft("sqlite", collect(alias, entry, {}))
    path = _path(draft, Setting(entry["NAME"], f"DATABASES[{alias!r}]['NAME']"))
    timeout = draft.settings.get("timeout")
    if timeout is not None:
        draft.option("busy_timeout", "timeout", timeout.value or _SHORTEST)
    for command in (draft.text("init_command") or "").split(";"):
        if command.strip():
            _read_command(draft, command.strip())
    draft.refuse_others(_KNOWN, {}, {})
    return draft.finish(lambda: DatabaseUrl(family=draft.family, database=path, options=draft.options))


def is_for_tests(name: object) -> bool:
    """Say whether a NAME is that of the database in memory that Django makes for a test run."""
    return str(name).startswith("file:memorydb_")


def _path(draft: Draft, name: Setting) -> str:
    text = str(name.value or "")
    bare, _, query = text.partition("?")
    if text in ("", ":memory:") or ":memory:" in bare or "mode=memory" in query:
        draft.problems.append(
            f"{name.origin} is {text!r}: a database in memory belongs to the process that made it, and the native "
            "driver cannot open it. Name a file; for tests, in ['TEST']['NAME']."
        )
    elif text.startswith("file:") and (query or bare.startswith("file://")):
        draft.problems.append(
            f"{name.origin} is {text!r}: the native driver opens plain files, without what a URI can say. "
            "Name the file."
        )
    return unquote(bare.removeprefix("file:")) if text.startswith("file:") else text


def _read_command(draft: Draft, command: str) -> None:
    found = _PRAGMA.fullmatch(command)
    name, value = (found[1].lower(), found[2]) if found else ("", None)
    if name == "journal_mode" and value:
        draft.option("journal_mode", "init_command", value.lower())
    elif name == "synchronous" and value:
        draft.option("synchronous", "init_command", _SYNCHRONOUS.get(value, value.lower()))
    elif name == "busy_timeout" and value and value.isdecimal():
        draft.option("busy_timeout", "init_command", max(int(value) / 1000, _SHORTEST))
    elif name not in _COMFORT:
        draft.refuse("init_command", f"the native driver does not run {command!r}", "Take that command out of it")
