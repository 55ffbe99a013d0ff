"""Letting code inside a test's transaction do what it would do outside of one."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.transaction import TransactionManagementError

__all__ = ["as_if_alone"]

logger = logging.getLogger("compat_sync.testing")


@contextmanager
def as_if_alone() -> Generator[None]:
    """Keep what the block writes in the transactions open here, whatever it raises.

    What broke a transaction is taken back to where the block began. What the block has given to `on_commit` is called
    at its end. Outside of `atomic()` nothing is done: then it is alone.
    """
    opened = [(django, len(django.run_on_commit)) for django in _in_transaction()]
    try:
        with _savepoints([django for django, _ in opened]):
            yield
    finally:
        for django, waiting in opened:
            _call_back(django, waiting)


def _in_transaction() -> list[BaseDatabaseWrapper]:
    return [django for django in connections.all(initialized_only=True) if django.in_atomic_block]


@contextmanager
def _savepoints(opened: Sequence[BaseDatabaseWrapper]) -> Generator[None]:
    """Set a savepoint on each connection, and go back to it only where the transaction broke.

    Raises: DatabaseError where the block hid that it broke, or what the block raises.
    """
    atomics: list[Any] = [transaction.atomic(using=django.alias) for django in opened]
    for atomic in atomics:
        atomic._from_testcase = True  # noqa: SLF001 - so that a durable block may stand in it, as in a TestCase
        atomic.__enter__()
    try:
        yield
    except BaseException:
        for atomic in reversed(atomics):
            with suppress(DatabaseError):
                atomic.__exit__(None, None, None)
        raise
    broken = [django.alias for django in opened if django.needs_rollback]
    for atomic in reversed(atomics):
        atomic.__exit__(None, None, None)
    if broken:
        raise TransactionManagementError(
            f"an error of the database {broken[0]!r} was caught outside of an atomic() of its own: what was written "
            "since then and before is lost in a test, whose transaction it broke"
        )


def _call_back(django: BaseDatabaseWrapper, waiting: int) -> None:
    """Call what was given to `on_commit` after the first `waiting`, each in a savepoint of its own."""
    while len(django.run_on_commit) > waiting:
        entry: Any = django.run_on_commit.pop(waiting)  # three parts, where the stubs know two
        _, function, is_robust = entry
        try:
            with _savepoints([django]):
                function()
        except Exception:
            if not is_robust:
                raise
            logger.exception("what was given to on_commit() failed")
