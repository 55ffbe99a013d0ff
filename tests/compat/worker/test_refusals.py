"""`manage.py oxpull_worker` refuses to start where it could not do its work, and says what to do."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from compat_sync.native import unexpressible
from tests.compat import routing
from tests.compat.conftest import Kind, MakeAlias
from tests.compat.django_aliases import add_alias, drop_alias
from tests.fixtures.servers import MakeDatabase

OURS = "compat_sync.backend.OxpullBackend"


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    """Put back the levels that the command sets."""
    loggers = [logging.getLogger(name) for name in ("oxpull_async", "compat_sync")]
    before = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)


def refusal(*arguments: str, **tasks: Any) -> str:
    """Start a worker that must not start, and return what it says."""
    named: dict[str, Any] = {"default": {"BACKEND": OURS, "QUEUES": ["default", "mail"]}} | tasks
    with override_settings(TASKS=named), pytest.raises(CommandError) as refused:
        call_command("oxpull_worker", "--burst", "--skip-checks", *arguments)
    return str(refused.value)


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_backend_that_is_not_ours_is_refused(site: str, kind: Kind) -> None:
    other = {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend"}
    assert "TASKS['other'] is no backend of compat_sync" in refusal("--backend", "other", other=other)
    assert "TASKS['missing'] is no backend of compat_sync" in refusal("--backend", "missing")


@pytest.mark.parametrize("kind", ["sqlite"])
def test_wrong_options_are_refused_with_the_text_of_the_check(site: str, kind: Kind) -> None:
    wrong = {"BACKEND": OURS, "OPTIONS": {"MAX_ATEMPTS": 3}}
    assert "OPTIONS has the key 'MAX_ATEMPTS', which is not known. (compat_sync.E201)" in refusal(default=wrong)


@pytest.mark.parametrize("kind", ["sqlite"])
def test_another_database_than_the_routers_is_refused(site: str, kind: Kind) -> None:
    assert f"the tables of tasks are in DATABASES[{site!r}]" in refusal("--database", "elsewhere")


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_queue_that_the_alias_does_not_have_is_refused(site: str, kind: Kind) -> None:
    assert "--queues: 'post' is not one of the declared queues: default, mail" in refusal("--queues", "post")


@pytest.mark.parametrize("kind", ["sqlite"])
def test_reload_is_refused_without_debug(site: str, kind: Kind) -> None:
    assert refusal("--reload") == "--reload is for development: it needs DEBUG = True"


@pytest.mark.parametrize(("option", "value"), [("--threads", "0"), ("--drain-timeout", "soon"), ("--max-rss", "-1")])
def test_a_value_that_cannot_be_is_refused(option: str, value: str) -> None:
    assert f"argument {option}" in refusal(f"{option}={value}")


def test_what_the_native_driver_cannot_do_is_refused_with_the_text_of_the_check(
    make_alias: MakeAlias, kind: Kind, site: str
) -> None:
    odd = make_alias(kind, an_option_of_nobody=1)
    before, routing.current["alias"] = routing.current["alias"], odd
    try:
        said = refusal()
    finally:
        routing.current["alias"] = before
    assert said.splitlines() == unexpressible(odd)
    assert "an_option_of_nobody" in said


def test_a_database_without_tables_is_refused(make_database: MakeDatabase, kind: Kind) -> None:
    add_alias("bare", make_database(kind))
    before, routing.current["alias"] = routing.current["alias"], "bare"
    try:
        assert "run `manage.py migrate --database bare`" in refusal()
        assert "run `manage.py migrate --database bare`" in refusal("--processes", "2")
    finally:
        routing.current["alias"] = before
        drop_alias("bare")
