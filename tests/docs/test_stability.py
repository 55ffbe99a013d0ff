"""docs/stability.md promises what exists, and nothing else."""

from importlib import import_module
from typing import get_args

import pytest

from oxpull_async.domain.events import Event
from oxpull_async.runtime.log import _LEVELS
from tests.compat.django_aliases import configure
from tests.docs.stability import COMPAT, DJANGO_OX, LISTS, PAGE, printed


@pytest.mark.parametrize("title", LISTS)
def test_a_list_of_the_page_is_that_of_the_code(title: str) -> None:
    assert printed(title) == LISTS[title](), "run `python -m tests.docs.stability`"


def test_every_event_is_logged_and_every_logged_event_is_one() -> None:
    assert set(_LEVELS) == set(get_args(Event.__value__))


def test_events_of_django_ox_are_named_for_events_that_exist() -> None:
    assert DJANGO_OX.keys() <= _LEVELS.keys()


@pytest.mark.parametrize("module", COMPAT)
def test_the_promised_names_exist(module: str) -> None:
    configure()
    assert [name for name in COMPAT[module] if not hasattr(import_module(module), name)] == []


@pytest.mark.parametrize("module", ["compat_sync.actions", "compat_sync.testing"])
def test_everything_that_a_module_for_users_offers_is_promised(module: str) -> None:
    configure()
    assert set(COMPAT[module]) == set(import_module(module).__all__)


def test_whatever_users_can_catch_is_promised() -> None:
    configure()
    exceptions = import_module("compat_sync.exceptions")
    raised = {name for name, kind in vars(exceptions).items() if isinstance(kind, type) and name[0] != "_"}
    ours = {name for name in raised if getattr(exceptions, name).__module__ == exceptions.__name__}
    [row] = [line for line in printed("names").splitlines() if "`compat_sync.exceptions`" in line]
    assert {name for name in ours if f"`{name}`" not in row} == set()


def test_the_page_names_no_event_of_features_that_are_not_there() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [word for word in ("rate_limit_", "schedule_") if word in page] == []
