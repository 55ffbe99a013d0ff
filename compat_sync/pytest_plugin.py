"""Fixtures for pytest; nothing of Django is touched until a test takes one of them.

With pytest-django a test asks for its database as usual (`db`, or the mark `django_db`); without it, whoever sets up
Django, and rolls back or not, does so around these fixtures too.
"""

from collections.abc import Iterator
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING
from unittest import TestCase

import pytest

if TYPE_CHECKING:
    from compat_sync.testing import MovedClock
    from compat_sync.testing.kit import TaskKit

__all__ = ["oxpull_clock", "oxpull_tasks"]

DATABASES = ("db", "transactional_db", "django_db_reset_sequences", "django_db_serialized_rollback", "live_server")
"""pytest-django's fixtures that let a test use the database."""
COMMITS = frozenset(DATABASES[1:]) - {"django_db_serialized_rollback"}


@pytest.fixture
def oxpull_tasks(request: pytest.FixtureRequest) -> Iterator["TaskKit"]:
    """Note what the test enqueues, for its assertions, and let it `run()` what is due.

    Where pytest-django lets the test commit, the tables of tasks are emptied at its end.
    """
    _require_django()
    _require_commits(request)
    from compat_sync.testing import captured_tasks, clear_tasks
    from compat_sync.testing.kit import TaskKit

    for name in DATABASES:
        if name in request.fixturenames:
            request.getfixturevalue(name)  # it ends after this one
    with captured_tasks() as captured:
        yield TaskKit(captured)
    if _commits(request):
        clear_tasks()


@pytest.fixture
def oxpull_clock() -> Iterator["MovedClock"]:
    """Let the test move the database's clock, which is put back at its end."""
    _require_django()
    from compat_sync.testing import moved_clock

    with moved_clock() as clock:
        yield clock


def _require_django() -> None:
    try:
        from django.apps import apps
    except ImportError:
        pytest.fail("this fixture of oxpull-async needs Django: install oxpull-async[django]", pytrace=False)
    if not apps.ready:
        pytest.fail(
            "this fixture of oxpull-async needs Django to be set up: use pytest-django, or call django.setup() in "
            "conftest.py",
            pytrace=False,
        )


def _require_commits(request: pytest.FixtureRequest) -> None:
    """Fail a coroutine test in a transaction that its tasks would not be in: nobody sync waits for it."""
    if not iscoroutinefunction(request.function) or isinstance(request.instance, TestCase) or _commits(request):
        return
    if set(DATABASES) & set(request.fixturenames) or request.node.get_closest_marker("django_db"):
        pytest.fail(
            "an async test has its own connections, so what it enqueues would not be in the transaction that `db` "
            "rolls back, and the next test would find it: take `transactional_db`, or "
            "`@pytest.mark.django_db(transaction=True)`",
            pytrace=False,
        )


def _commits(request: pytest.FixtureRequest) -> bool:
    """Whether pytest-django lets the test commit: by a fixture, or by what the mark `django_db` says."""
    mark = request.node.get_closest_marker("django_db")
    said = [] if mark is None else [*mark.args[:2], *map(mark.kwargs.get, ("transaction", "reset_sequences"))]
    return bool(COMMITS & set(request.fixturenames)) or any(said)
