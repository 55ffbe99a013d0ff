"""The old project beside the test: its tables, its code, and the move."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connections

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskId, TaskRecord, task_id
from oxpull_async.store.results import TaskFilter, list_tasks
from oxpull_async.store.schema import migrate
from tests.compat.projects import ROOT, Project, make_project

OLD_APPS = ("django.contrib.auth", "django.contrib.contenttypes", "django_ox", "oxpull")
OLD_TASKS = """
TASKS = {"default": {
    "BACKEND": "oxpull.backend.OxpullBackend",
    "QUEUES": ["default", "mail"],
    "OPTIONS": {
        "UNIQUE_TASKS": ["tests.compat.move.shop.charge"],
        "WORKFLOWS": True,
        "WORKER_CLASS": "oxpull.worker.OxpullWorker",
        "SCHEDULES": {
            "oxpull-batch-reconcile": {"task": "oxpull.batches.reconcile", "cron": "* * * * *"},
            "oxpull-workflow-reconcile": {"task": "oxpull.workflows.reconcile", "cron": "* * * * *"},
            "nightly": {"task": "tests.compat.move.shop.send_invoice", "cron": "0 3 * * *", "args": [31]},
        },
        "SCHEDULABLE_TASKS": {"invoice": {"task": "tests.compat.move.shop.send_invoice"}},
    },
}}
"""
SEND_INVOICE = "tests.compat.move.shop.send_invoice"
NEW_TASKS = {
    "default": {
        "BACKEND": "compat_sync.backend.OxpullBackend",
        "QUEUES": ["default", "mail"],
        "OPTIONS": {
            "UNIQUE_TASKS": ["tests.compat.move.shop.charge"],
            "SCHEDULES": {
                "nightly": {"task": "tests.compat.move.shop.send_invoice", "cron": "0 3 * * *", "args": [31]}
            },
            "SCHEDULABLE_TASKS": {"invoice": {"task": "tests.compat.move.shop.send_invoice"}},
        },
    }
}
# Referring tables first.
OLD_TABLES = (
    "django_ox_oxscheduletick",
    "django_ox_oxtask",
    "oxpull_oxpulluniquelock",
    "oxpull_oxpullbatchmember",
    "oxpull_oxpullbatch",
    "oxpull_oxpullworkflowscan",
    "oxpull_oxpullworkflowedge",
    "oxpull_oxpullworkflownode",
    "oxpull_oxpullworkflow",
    "django_ox_oxschedule",
)


class OldProcess:
    """A process of the old project, which does what it is told, one thing after another."""

    def __init__(self, project: Project) -> None:
        self._log = project.folder / "old.log"
        with self._log.open("ab") as log:
            self._popen = subprocess.Popen(
                (sys.executable, "-m", "tests.compat.move.old_app"),
                env=environment(project), cwd=ROOT, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip

    def begin(self, name: str, *arguments: Any) -> None:
        """Have it begin something."""
        assert self._popen.stdin is not None
        self._popen.stdin.write(json.dumps([name, arguments]) + "\n")
        self._popen.stdin.flush()

    def answer(self) -> Any:
        """Wait for what it answers."""
        assert self._popen.stdout is not None
        line = self._popen.stdout.readline()
        assert line, self._log.read_text()[-3000:]
        return json.loads(line)

    def close(self) -> None:
        """End it."""
        self._popen.communicate(timeout=50)


@dataclass(frozen=True, slots=True)
class OldProject:
    """A project on django-ox and its oxpull app whose database is `alias` here."""

    project: Project
    process: OldProcess
    alias: str

    @property
    def conn(self) -> DjangoConnection:
        """The core's connection to its database."""
        return DjangoConnection(self.alias)

    def run(self, name: str, *arguments: Any) -> Any:
        """Have the old code do something; returns what it answers."""
        self.process.begin(name, *arguments)
        return self.process.answer()

    def empty(self) -> None:
        """Remove every row of the old tables."""
        for table in OLD_TABLES:
            run_blocking(self.conn.run_script(f"DELETE FROM {table}"))

    def rows(self) -> dict[TaskId, str]:
        """Return the tasks that are in the old table, with their statuses."""
        return {task_id(id_): status for id_, status in self._select("SELECT id, status FROM django_ox_oxtask")}

    def locks(self) -> list[TaskId]:
        """Return the tasks that old lock rows name."""
        return [task_id(id_) for (id_,) in self._select("SELECT task_id FROM oxpull_oxpulluniquelock")]

    def ticks(self) -> list[Any]:
        """Return the tasks that the old log of schedules names."""
        return [id_ for (id_,) in self._select("SELECT task_id FROM django_ox_oxscheduletick")]

    def open_groups(self) -> list[str]:
        """Return the names of the batches and workflows that are in the old tables."""
        batches = self._select("SELECT name FROM oxpull_oxpullbatch WHERE status <> 'COMPLETE'")
        return [name for (name,) in [*batches, *self._select("SELECT name FROM oxpull_oxpullworkflow")]]

    def schedules(self) -> list[str]:
        """Return the names of the old stored schedules."""
        return [name for (name,) in self._select("SELECT name FROM django_ox_oxschedule ORDER BY name")]

    def lock_keys(self) -> list[str]:
        """Return the running locks of the tasks that are here now."""
        return [key for (key,) in self._select("SELECT lock_key FROM oxpull_task")]

    def _select(self, sql: str) -> list[tuple[Any, ...]]:
        with connections[self.alias].cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def tasks(self) -> dict[TaskId, TaskRecord]:
        """Return the tasks that are here now."""
        records = run_blocking(list_tasks(self.conn, "default", TaskFilter(limit=1000)))
        return {record.id: record for record in records}


def make_old_project(folder: Path, url: str) -> Project:
    """Write a project on the old packages and make its tables by its own migrations."""
    project = make_project(folder, url, apps=OLD_APPS, more=OLD_TASKS)
    done = subprocess.run(
        (sys.executable, "-m", "django", "migrate", "--verbosity", "0"),
        env=environment(project), capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return project


def make_our_tables(alias: str) -> None:
    """Make this library's tables beside the old ones."""
    conn = DjangoConnection(alias)
    run_blocking(migrate(conn, run_blocking(conn.uuid_type())))


def oxpull_move(*arguments: str) -> str:
    """Run the command in this process; returns what it prints."""
    out = io.StringIO()
    call_command("oxpull_move", *arguments, stdout=out)
    return out.getvalue()


def environment(project: Project) -> dict[str, str]:
    """Return how processes of the old project find their settings."""
    path = os.pathsep.join((str(project.folder), str(ROOT)))
    return {**os.environ, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "project_settings"}
