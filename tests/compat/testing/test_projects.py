"""The kit in projects of their own: Django's test runner, pytest alone, and pytest with pytest-django."""

import tomllib
from pathlib import Path

import pytest

from tests.compat.conftest import KINDS, Kind
from tests.compat.projects import ROOT
from tests.compat.testing.projects import PLUGIN, make_shop, run_pytest
from tests.fixtures.servers import MakeDatabase

UNITTESTS = """
from django.contrib.auth.models import Group
from django.db import IntegrityError
from django.tasks import TaskResultStatus
from django.test import TestCase, TransactionTestCase

from compat_sync.models import OxpullTask
from compat_sync.testing import TaskAssertions, arun_tasks, captured_tasks, moved_clock, run_tasks
from shop.tasks import charge, count_groups, name_group


class Rolling(TaskAssertions, TestCase):
    @classmethod
    def setUpTestData(cls):
        Group.objects.create(name="taken")

    def setUp(self):
        self.assertEqual(OxpullTask.objects.count(), 0)

    def test_enqueues_and_runs(self):
        name_group.enqueue("new")
        self.assert_enqueued(name_group, args=["new"], times=1)
        run_tasks()
        self.assertEqual(Group.objects.count(), 2)
        count_groups.enqueue()
        self.assertEqual(run_tasks()[0].return_value, 2)

    def test_survives_a_refused_row(self):
        name_group.enqueue("taken")
        [result] = run_tasks()
        self.assertEqual(result.status, TaskResultStatus.READY)
        self.assertIs(result.errors[0].exception_class, IntegrityError)
        self.assertEqual(Group.objects.count(), 1)
        with moved_clock() as clock:
            for _ in range(2):
                clock.advance(3600)
                [result] = run_tasks()
        self.assertEqual(result.status, TaskResultStatus.FAILED)

    def test_deduplicates(self):
        charge.enqueue(1)
        with captured_tasks():
            charge.enqueue(1)
            self.assert_deduplicated(charge, args=[1])
            self.assert_not_enqueued()
        self.assert_enqueued(charge)
        self.assertEqual(len(self.enqueued), 1)

    async def test_awaits(self):
        await name_group.aenqueue("async")
        await arun_tasks()
        self.assertEqual(await Group.objects.acount(), 2)


class Committing(TaskAssertions, TransactionTestCase):
    def test_the_first_leaves_nothing(self):
        self.enqueue_and_run()

    def test_the_second_finds_nothing(self):
        self.enqueue_and_run()

    def enqueue_and_run(self):
        self.assertEqual(OxpullTask.objects.count(), 0)
        name_group.enqueue("a")
        name_group.enqueue("a")
        charge.enqueue(1)
        self.assertEqual([result.status.value for result in run_tasks()], ["SUCCESSFUL", "READY", "SUCCESSFUL"])
        charge.enqueue(1)
        self.assert_enqueued(charge, times=2)
"""

WITH_PYTEST_DJANGO = """
import pytest
from django.contrib.auth.models import Group

from compat_sync import clock
from compat_sync.models import OxpullTask
from shop.tasks import charge, name_group


def test_in_a_transaction(oxpull_tasks, oxpull_clock, db):
    name_group.enqueue("a")
    name_group.using(run_after=oxpull_clock.now().replace(year=2090)).enqueue("b")
    oxpull_tasks.assert_enqueued(name_group, times=2)
    assert len(oxpull_tasks.run()) == 1
    oxpull_clock.move_to(oxpull_clock.now().replace(year=2091))
    assert len(oxpull_tasks.run()) == 1
    assert Group.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_", [1, 2])
def test_with_commits(_, oxpull_tasks):
    assert OxpullTask.objects.count() == 0
    charge.enqueue(1)
    charge.enqueue(1)
    oxpull_tasks.assert_deduplicated(charge, args=[1], times=1)
    assert len(oxpull_tasks.enqueued) == 1


@pytest.mark.parametrize("_", [1, 2])
def test_with_commits_by_a_fixture_after_ours(_, oxpull_tasks, transactional_db):
    assert OxpullTask.objects.count() == 0
    charge.enqueue(1)


def test_without_a_database(oxpull_tasks, oxpull_clock):
    oxpull_tasks.assert_not_enqueued()
    oxpull_clock.advance(1)


def test_the_clock_is_where_it_was():
    assert clock.offset() == 0
"""

WITH_PYTEST_ASYNCIO = """
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group

from compat_sync.models import OxpullTask
from shop.tasks import name_group

pytestmark = pytest.mark.asyncio


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_", [1, 2])
async def test_with_commits(_, oxpull_tasks):
    assert await on_a_thread(OxpullTask.objects.count) == 0
    await name_group.aenqueue("a")
    assert [result.status.value for result in await oxpull_tasks.arun()] == ["SUCCESSFUL"]
    assert await on_a_thread(Group.objects.count) == 1


async def test_by_a_fixture(oxpull_tasks, transactional_db):
    await name_group.aenqueue("b")
    assert len(await oxpull_tasks.arun()) == 1


@pytest.mark.django_db
async def test_refused_by_the_mark(oxpull_tasks):
    await name_group.aenqueue("leaks")


async def test_refused_by_the_fixture(db, oxpull_tasks):
    await name_group.aenqueue("leaks")


@pytest.mark.django_db(transaction=True)
async def test_nothing_leaks():
    assert await on_a_thread(OxpullTask.objects.count) == 0


async def on_a_thread(function):
    def alone():
        from django.db import connections

        try:
            return function()
        finally:
            connections.close_all()

    return await sync_to_async(alone)()
"""

ALONE = """
import pytest


def test_enqueues_and_runs(shop_database, oxpull_tasks, oxpull_clock):
    from shop.tasks import charge

    charge.enqueue(1)
    assert not charge.enqueue(1).created
    oxpull_tasks.assert_enqueued(charge, args=[1], times=1)
    with pytest.raises(AssertionError, match="shop.tasks.charge"):
        oxpull_tasks.assert_not_enqueued()
    assert [result.status.value for result in oxpull_tasks.run()] == ["SUCCESSFUL"]
    oxpull_clock.advance(60)
"""
CONFTEST = """
import django
import pytest
from django.db import transaction
from django.test.utils import setup_databases, teardown_databases

django.setup()


@pytest.fixture(scope="session")
def migrated():
    made = setup_databases(verbosity=0, interactive=False)
    yield
    teardown_databases(made, verbosity=0)


@pytest.fixture
def shop_database(migrated):
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
"""
UNREADY = """
import sys


def test_a_plain_test_imports_no_django():
    assert "django" not in sys.modules


def test_a_fixture_says_what_is_missing(oxpull_tasks): ...
"""


@pytest.mark.parametrize("kind", KINDS)
def test_test_cases_of_django(kind: Kind, tmp_path: Path, make_database: MakeDatabase) -> None:
    project = make_shop(tmp_path, make_database(kind), test_shop=UNITTESTS)
    done = project.manage("test", "test_shop", "--noinput")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ran 6 tests" in done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_pytest_with_pytest_django(kind: Kind, tmp_path: Path, make_database: MakeDatabase) -> None:
    project = make_shop(tmp_path, make_database(kind), test_shop=WITH_PYTEST_DJANGO)
    done = run_pytest(project, "pytest_django.plugin")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_async_tests_leave_neither_tasks_nor_connections(
    kind: Kind, tmp_path: Path, make_database: MakeDatabase
) -> None:
    project = make_shop(tmp_path, make_database(kind), test_shop=WITH_PYTEST_ASYNCIO)
    with project.folder.joinpath("project_settings.py").open("a") as settings:
        settings.write(f"DATABASES['default'] |= {{'CONN_MAX_AGE': None, 'TEST': {file_of(kind, tmp_path)!r}}}\n")
    done = run_pytest(project, "pytest_django.plugin", "pytest_asyncio.plugin")
    assert "4 passed, 2 errors" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("take `transactional_db`") >= 2  # and again in the summary, which some shorten
    assert "other session" not in done.stdout + done.stderr


def file_of(kind: Kind, folder: Path) -> dict[str, str]:
    """Name a file, where threads would else share one in memory."""
    return {"NAME": str(folder / "test.db")} if kind == "sqlite" else {}


@pytest.mark.parametrize("kind", KINDS)
def test_pytest_alone(kind: Kind, tmp_path: Path, make_database: MakeDatabase) -> None:
    project = make_shop(tmp_path, make_database(kind), test_shop=ALONE, conftest=CONFTEST)
    done = run_pytest(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_without_django_set_up_the_plugin_sleeps(tmp_path: Path, make_database: MakeDatabase) -> None:
    project = make_shop(tmp_path, make_database("sqlite"), test_shop=UNREADY)
    done = run_pytest(project)
    assert "1 passed, 1 error" in done.stdout
    assert "call django.setup() in conftest.py" in done.stdout


def test_the_plugin_is_an_entry_point_of_the_package() -> None:
    pyproject = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text())
    assert pyproject["project"]["entry-points"]["pytest11"] == {"oxpull": PLUGIN}
