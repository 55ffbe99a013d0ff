"""How many connections to a database are open, as the database itself sees it."""

import os
from typing import Any

import psutil
from django.db import connections
from django.db.utils import load_backend

from tests.cli.support import until

_LISTS = {
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    "mysql": "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()",
}
_OWN = {"postgresql": "SELECT pg_backend_pid()", "mysql": "SELECT connection_id()"}
_KILL = {"postgresql": "SELECT pg_terminate_backend(%s)", "mysql": "KILL %s"}


def others(alias: str) -> list[Any]:
    """List the sessions beside this thread's own, which on SQLite is closed.

    SQLite keeps a closed file open while another connection of the process has it locked, as in WAL all have.
    """
    if connections[alias].vendor not in _LISTS:
        connections[alias].close()
        name = os.path.realpath(connections[alias].settings_dict["NAME"])
        return [file.fd for file in psutil.Process().open_files() if file.path == name]
    with connections[alias].cursor() as cursor:
        cursor.execute(_LISTS[connections[alias].vendor])
        return [row[0] for row in cursor.fetchall()]


def kill_others(alias: str) -> None:
    """End all sessions beside this thread's own."""
    for session in others(alias):
        with connections[alias].cursor() as cursor:
            cursor.execute(_KILL[connections[alias].vendor], [session])


def kill_own(alias: str) -> None:
    """End this thread's own session by another one, as a server that restarts does."""
    django = connections[alias]
    with django.cursor() as cursor:
        cursor.execute(_OWN[django.vendor])
        [session] = cursor.fetchone()
    beside = load_backend(django.settings_dict["ENGINE"]).DatabaseWrapper(django.settings_dict, "beside")
    with beside.cursor() as cursor:
        cursor.execute(_KILL[django.vendor], [session])
    beside.close()


def none_is_left(alias: str) -> None:
    """Wait until no session is open but this thread's own."""
    until(lambda: not others(alias), "the end of all other sessions")
