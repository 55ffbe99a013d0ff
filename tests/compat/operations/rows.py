"""Stored tasks in every status on Django's connection, and what became of them."""

from collections.abc import Iterable

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskRecord, TaskStatus
from tests.fixtures import make

__all__ = ["one_of_each", "record", "statuses"]


def one_of_each(alias: str) -> dict[TaskStatus, TaskRecord]:
    """Store a task in each status, each in a queue of its own."""
    conn = DjangoConnection(alias)
    return {
        status: run_blocking(build(conn, queue_name=str(status).lower())) for status, build in make.BUILDERS.items()
    }


def record(alias: str, id_: str) -> TaskRecord:
    """Read a task that must be there."""
    return run_blocking(make.record(DjangoConnection(alias), id_))


def statuses(alias: str, ids: Iterable[str]) -> list[TaskStatus]:
    """Read the statuses of tasks, in the order of the ids."""
    return [record(alias, id_).status for id_ in ids]
