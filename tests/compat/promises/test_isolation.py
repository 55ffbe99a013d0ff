"""Unique enqueues at every level that OPTIONS of DATABASES can set, while another thread of the site writes.

What each interleaving comes to is the table of `tests/races`, here by `task.enqueue` in `atomic()` and outside of it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction

from compat_sync import actions, exceptions
from compat_sync.results import TaskResult
from tests.cli.support import PATIENCE, until
from tests.compat.conftest import Kind
from tests.compat.promises import shop
from tests.compat.promises.kit import Elsewhere, answer, claimed, counts, is_waited, site_of
from tests.compat.promises.rows import finished
from tests.races.expected import expected
from tests.races.settings import SETTINGS, Setting

# SQLite's one writer keeps the others out, so what follows cannot happen there, but for a deferred transaction's reads.
CHOSEN = [one for one in SETTINGS if one.family != "sqlite" or one.name in {"wal-none", "wal-deferred"}]


@dataclass(frozen=True, slots=True)
class Scene:
    """A caller in a setting, and another thread of the site."""

    alias: str
    setting: Setting
    there: Elsewhere
    watcher: Elsewhere

    def opened(self) -> AbstractContextManager[Any]:
        """Open the caller's transaction, if the setting has one, and let its snapshot begin."""
        if self.setting.begin is None:
            return nullcontext()
        stack = ExitStack()
        stack.enter_context(transaction.atomic(using=self.alias))
        answer(self.alias, "SELECT count(*) FROM oxpull_meta")
        return stack

    def holds(self) -> str:
        """Let another thread enqueue and commit."""
        return self.there.do(charge).id


@pytest.fixture(params=CHOSEN, ids=str)
def scene(
    request: pytest.FixtureRequest, url_of: Callable[[Kind], str], open_elsewhere: Callable[[str], Elsewhere]
) -> Iterator[Scene]:
    """Set the scene for each setting."""
    setting: Setting = request.param
    options = dict(setting.django or {})
    if setting.family == "sqlite":
        options["timeout"] = 0.2
    with site_of(url_of(setting.family), **options) as alias:
        yield Scene(alias, setting, open_elsewhere(alias), open_elsewhere(alias))


def charge() -> TaskResult:
    return shop.charge.enqueue(1)


def outcome(scene: Scene) -> str:
    """Enqueue in the caller's transaction, end it as the answer says, and put it in words."""
    try:
        result = charge()
    except exceptions.UniqueEnqueueRace as race:
        check(race, scene)
        return "race, usable" if race.transaction_survived else "race, lost"
    return "created" if result.created else f"existing {result.stored_status}"


def check(race: exceptions.UniqueEnqueueRace, scene: Scene) -> None:
    """A race says that nothing was written and what to repeat, is chained, and tells the truth of the transaction."""
    assert "nothing was written" in str(race)
    assert race.__cause__ is not None or "snapshot" in str(race)
    if scene.setting.begin is None:
        assert "Enqueue again" in str(race)
        assert not race.transaction_survived
    elif race.transaction_survived:
        assert "as it was before" in str(race)
        answer(scene.alias, "SELECT count(*) FROM oxpull_meta")
    else:
        assert "is lost: roll it back and repeat all of it" in str(race)
        transaction.set_rollback(True, using=scene.alias)


def compare(scene: Scene, interleaving: str, found: str) -> None:
    assert found == expected(interleaving, scene.setting.name)


@pytest.mark.parametrize("commits", [True, False])
def test_a_duplicate_waits_for_the_transaction_that_holds_the_key(scene: Scene, commits: bool) -> None:
    """Its winner commits: the duplicate finds its task, or its snapshot is too old. It rolls back: the key is free."""
    with transaction.atomic(using=scene.alias):
        winner = charge()
        duplicate = scene.there.start(_arrive, scene)
        until(lambda: scene.watcher.do(is_waited, scene.alias), "a duplicate that waits")
        transaction.set_rollback(not commits, using=scene.alias)
    found = duplicate.result(PATIENCE)
    name = "winner commits while a duplicate waits" if commits else "winner rolls back while a duplicate waits"
    compare(scene, name, found)
    assert winner.created
    assert counts(scene.alias) == (1, 1)


def _arrive(scene: Scene) -> str:
    with transaction.atomic(using=scene.alias) if scene.setting.begin else nullcontext():
        return outcome(scene)


def test_a_holder_is_returned_as_the_snapshot_shows_it(scene: Scene) -> None:
    id_ = scene.holds()
    with scene.opened():
        compare(scene, "holder is as the snapshot says", outcome(scene))
        assert charge().id == id_
    assert counts(scene.alias) == (1, 1)


def test_a_holder_that_started_after_the_snapshot_is_still_the_holder(scene: Scene) -> None:
    scene.holds()
    with scene.opened():
        scene.there.do(claimed, scene.alias)
        compare(scene, "holder starts after the snapshot", outcome(scene))
    assert counts(scene.alias) == (1, 1)


def test_a_holder_that_ended_after_the_snapshot_never_answers(scene: Scene) -> None:
    scene.holds()
    with scene.opened():
        scene.there.do(finished, scene.alias)
        found = outcome(scene)
        compare(scene, "holder settles after the snapshot", found)
    assert counts(scene.alias) == ((2, 1) if found == "created" else (1, 1))


def test_a_holder_that_was_deleted_after_the_snapshot_never_answers(scene: Scene) -> None:
    scene.holds()
    with scene.opened():
        scene.there.do(answer, scene.alias, "DELETE FROM oxpull_task")
        found = outcome(scene)
        compare(scene, "holder is deleted after the snapshot", found)
    assert counts(scene.alias)[0] == (1 if found == "created" else 0)


def test_a_key_that_was_taken_after_the_snapshot_is_never_taken_twice(scene: Scene) -> None:
    with scene.opened():
        scene.holds()
        compare(scene, "key is taken after the snapshot", outcome(scene))
    assert counts(scene.alias) == (1, 1)


def test_an_ended_holder_that_was_retried_after_the_snapshot_keeps_its_key(scene: Scene) -> None:
    id_ = scene.holds()
    scene.there.do(finished, scene.alias, failed=True)
    with scene.opened():
        assert scene.there.do(actions.retry, id_)
        compare(scene, "settled holder is retried after the snapshot", outcome(scene))
    assert counts(scene.alias) == (1, 1)


def test_a_retry_that_is_in_flight_is_waited_for(scene: Scene) -> None:
    id_ = scene.holds()
    scene.there.do(finished, scene.alias, failed=True)
    with transaction.atomic(using=scene.alias):
        assert actions.retry(id_)
        enqueued = scene.there.start(_arrive, scene)
        until(lambda: scene.watcher.do(is_waited, scene.alias), "an enqueue that waits")
    compare(scene, "retry of a settled holder is in flight", enqueued.result(PATIENCE))
    assert counts(scene.alias) == (1, 1)
