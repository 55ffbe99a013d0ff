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

    What broke a transaction is taken back to where the block began, and an `atomic()` that the block never leaves to
    where that began. What the block has given to `on_commit` is called at its end. Outside of `atomic()` there are no
    savepoints: then it is alone.
    """
    opened = [(django, len(django.run_on_commit)) for django in _in_transaction()]
    try:
        with _savepoints([django for django, _ in opened]), _left():
            yield
    finally:
        for django, waiting in opened:
            _call_back(django, waiting)


def _in_transaction() -> list[BaseDatabaseWrapper]:
    return [django for django in connections.all(initialized_only=True) if django.in_atomic_block]


@contextmanager
def _left() -> Generator[None]:
    """Leave with a rollback each `atomic()` that the block has entered and not left."""
    depths = {django.alias: _depth(django) for django in connections.all(initialized_only=True)}
    try:
        yield
    finally:
        for django in connections.all(initialized_only=True):
            _leave(django, depths.get(django.alias, 0))


def _leave(django: BaseDatabaseWrapper, depth: int) -> None:
    """Leave every block that is deeper; where they have no savepoint, go back to the one around the task."""
    was_broken = django.needs_rollback
    while _depth(django) > depth:
        innermost: Any = django.atomic_blocks[-1]
        with suppress(DatabaseError):
            innermost.__exit__(TransactionManagementError, None, None)
    if django.needs_rollback and not was_broken:
        django.set_rollback(False)  # which savepoint_rollback() asks for
        try:
            django.savepoint_rollback(django.savepoint_ids[-1])
        except DatabaseError:
            django.set_rollback(True)


def _depth(django: BaseDatabaseWrapper) -> int:
    """Return how many `atomic()` blocks are open; none where the connection was closed inside of them."""
    return len(django.atomic_blocks) if django.in_atomic_block else 0


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
