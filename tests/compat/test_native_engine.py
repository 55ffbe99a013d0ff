"""Engines that are not Django's own: what they change on the way to the server is seen without a connection."""

from typing import Any

import pytest
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.base import DatabaseWrapper as Postgres
from django.db.backends.sqlite3.base import DatabaseWrapper as Sqlite

from compat_sync.native.engine import engine_problems

ENTRY: dict[str, Any] = {
    "ENGINE": "shop.engine",
    "NAME": "shop",
    "USER": "clerk",
    "PASSWORD": "",
    "HOST": "db",
    "PORT": "",
    "TIME_ZONE": None,
    "OPTIONS": {},
}


class Counting(Postgres):
    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "cursor_factory": object}

    def get_new_connection(self, conn_params: Any) -> Any:
        return super().get_new_connection(conn_params)


class Renewing(Postgres):
    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "password": "t0ken"}


class Failing(Postgres):
    def get_connection_params(self) -> dict[str, Any]:
        raise LookupError("no cloud with t0ken")


class Renting(Postgres):
    def _cursor(self, name: str | None = None) -> Any:
        return super()._cursor(name)  # type: ignore[misc]


class Preparing(Sqlite):
    def init_connection_state(self) -> None:
        super().init_connection_state()


@pytest.mark.parametrize("engine", [Postgres, Sqlite, Counting], ids=["one", "other", "counting"])
def test_an_engine_that_connects_as_the_entry_says_has_no_problem(engine: type[BaseDatabaseWrapper]) -> None:
    assert engine_problems("default", ENTRY, engine) == ()


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        (Renewing, "makes password itself"),
        (Failing, "LookupError"),
        (Renting, "Renting._cursor"),
        (Preparing, "Preparing.init_connection_state"),
    ],
)
def test_an_engine_that_does_more_is_a_problem(engine: type[BaseDatabaseWrapper], expected: str) -> None:
    [problem] = engine_problems("default", ENTRY, engine)
    assert problem.startswith("DATABASES['default']['ENGINE'] is 'shop.engine', which ")
    assert expected in problem
    assert "t0ken" not in problem
