"""Which database the tasks are in, as the project's routers say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.test import modify_settings, override_settings

from compat_sync.placement import check_placement, database_alias, may_migrate, migrate_command
from tests.compat.django_aliases import add_alias, configure, drop_alias

configure()


@pytest.fixture(autouse=True)
def aliases(tmp_path: Path) -> Iterator[None]:
    """Let DATABASES have the alias that the routers here name."""
    add_alias("tasks", f"sqlite:///{tmp_path}/tasks.db")
    yield
    drop_alias("tasks")


class Router:
    """Sends our models to databases, and notes which it was asked about."""

    def __init__(self, **places: str) -> None:
        self.places = places
        self.asked: list[str] = []
        self.hints: list[dict[str, Any]] = []

    def db_for_write(self, model: type, **hints: Any) -> str:
        """Name the database of a model."""
        self.asked.append(model.__name__)
        self.hints.append(hints)
        return self.places.get(model.__name__, "tasks")

    def allow_migrate(self, alias: str, _app: str, model_name: str | None = None, **_hints: Any) -> bool:
        """Allow what `places` names for a database."""
        return self.places.get(f"{alias}_{model_name}", "yes") == "yes"


def our_models() -> list[str]:
    return [model.__name__ for model in apps.get_app_config("compat_sync").get_models()]


def test_the_tasks_are_where_routers_send_the_writes_of_our_models() -> None:
    router = Router()
    with override_settings(DATABASE_ROUTERS=[router]):
        assert database_alias() == "tasks"
    assert set(router.asked) == set(our_models())
    assert not any(router.hints)


def test_without_routers_the_tasks_are_in_the_default_database() -> None:
    with override_settings(DATABASE_ROUTERS=[]):
        assert database_alias() == "default"


def test_routers_are_asked_about_one_model_once_they_gave_one_answer_for_all() -> None:
    router = Router()
    with override_settings(DATABASE_ROUTERS=[router]):
        database_alias()
        router.asked.clear()
        assert [database_alias() for _ in range(3)] == ["tasks"] * 3
        assert router.asked == ["OxpullTask"] * 3
        router.asked.clear()
        assert check_placement() == "tasks"
        assert set(router.asked) == set(our_models())


@pytest.mark.parametrize("model", ["OxpullUniqueKey", "OxpullLock", "OxpullWorker", "OxpullQueue"])
def test_a_split_is_refused_with_the_models_and_their_aliases(model: str) -> None:
    with (
        override_settings(DATABASE_ROUTERS=[Router(**{model: "elsewhere"})]),
        pytest.raises(ImproperlyConfigured, match=rf"OxpullTask goes to 'tasks', {model} to 'elsewhere'"),
    ):
        database_alias()


def test_a_split_that_comes_up_later_is_seen_when_the_placement_is_checked_again() -> None:
    router = Router()
    with override_settings(DATABASE_ROUTERS=[router]):
        database_alias()
        router.places["OxpullLock"] = "elsewhere"
        with pytest.raises(ImproperlyConfigured, match="OxpullLock"):
            check_placement()
        with pytest.raises(ImproperlyConfigured, match="OxpullLock"):
            database_alias()


def test_other_routers_are_asked_anew() -> None:
    with override_settings(DATABASE_ROUTERS=[Router()]):
        database_alias()
    with (
        override_settings(DATABASE_ROUTERS=[Router(OxpullQueue="elsewhere")]),
        pytest.raises(ImproperlyConfigured, match="OxpullQueue"),
    ):
        database_alias()


def test_an_alias_that_is_not_there_is_refused_with_those_that_are() -> None:
    nowhere = dict.fromkeys(our_models(), "nowhere")
    with (
        override_settings(DATABASE_ROUTERS=[Router(**nowhere)]),
        pytest.raises(ImproperlyConfigured, match=r"to 'nowhere', which is no alias of DATABASES .*'tasks'\)"),
    ):
        database_alias()


def test_the_command_that_makes_the_tables_names_the_database() -> None:
    with override_settings(DATABASE_ROUTERS=[Router()]):
        assert migrate_command() == "`manage.py migrate --database tasks`"
    with override_settings(DATABASE_ROUTERS=[]):
        assert migrate_command() == "`manage.py migrate`"


def test_a_project_without_the_app_is_told_to_install_it() -> None:
    with (
        modify_settings(INSTALLED_APPS={"remove": ["compat_sync"]}),
        pytest.raises(ImproperlyConfigured, match="add 'compat_sync' to INSTALLED_APPS"),
    ):
        database_alias()


def test_tables_may_be_made_where_the_routers_want_all_or_none_of_them() -> None:
    refusing = {f"replica_{name.lower()}": "no" for name in our_models()}
    with override_settings(DATABASE_ROUTERS=[Router(**refusing, half_oxpulllock="no")]):
        assert may_migrate("tasks")
        assert not may_migrate("replica")
        with pytest.raises(ImproperlyConfigured, match=r"not those of OxpullLock: let allow_migrate\(\)"):
            may_migrate("half")
