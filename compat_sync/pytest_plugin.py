"""Fixtures for pytest; nothing of Django is touched until a test takes one of them.

With pytest-django a test asks for its database as usual (`db`, or the mark `django_db`); without it, whoever sets up
Django, and rolls back or not, does so around these fixtures too.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

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


def _commits(request: pytest.FixtureRequest) -> bool:
    """Whether pytest-django lets the test commit: by a fixture, or by `django_db(transaction=True)`."""
    mark = request.node.get_closest_marker("django_db")
    return bool(COMMITS & set(request.fixturenames)) or bool(mark and mark.kwargs.get("transaction"))
