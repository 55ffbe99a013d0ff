"""Where a unique enqueue cannot know: what UniqueEnqueueRace says, what it hangs on, and what is left."""

from collections.abc import Callable, Iterator, Mapping
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError, connections, transaction
from django.db.backends.signals import connection_created
from django.tasks import exceptions as django_exceptions
from django.tasks import signals

from compat_sync import actions
from compat_sync.exceptions import Contended, UniqueEnqueueRace
from oxpull_async import errors
from oxpull_async.domain.errors import Conflict, LockTimeout
from tests.cli.support import PATIENCE, until
from tests.compat.conftest import Kind
from tests.compat.promises import shop
from tests.compat.promises.kit import Elsewhere, Mode, answer, claimed, counts, is_waited, opened, site_of
from tests.compat.promises.rows import finished
from tests.races.settings import SETTINGS, Setting

type OpenElsewhere = Callable[[str], Elsewhere]

SHORT: Mapping[Kind, dict[str, Any]] = {
    "postgres": {"options": "-c lock_timeout=50ms"},
    "mysql": {"init_command": "SET SESSION innodb_lock_wait_timeout = 1"},
    "sqlite": {"timeout": 0.2},
}
BY_NAME = {setting.name: setting for setting in SETTINGS}


@pytest.fixture
def short(url_of: Callable[[Kind], str], kind: Kind) -> Iterator[str]:
    """Give a site whose database gives up on locks soon, as OPTIONS say."""
    with site_of(url_of(kind), **SHORT[kind]) as alias:
        yield alias


@pytest.fixture(params=[False, True], ids=["no_receiver", "receiver"])
def listener(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have nobody or somebody listen to enqueues."""

    def hear(**_: Any) -> None:
        """Listen."""

    if request.param:
        signals.task_enqueued.connect(hear)
    yield
    signals.task_enqueued.disconnect(hear)


def charge_in(mode: Mode, alias: str) -> UniqueEnqueueRace:
    """Enqueue in vain with something open, and see that what is open can go on where the race says so."""
    with opened(alias, mode):
        with pytest.raises(UniqueEnqueueRace) as race:
            shop.charge.enqueue(1)
        if race.value.transaction_survived:
            answer(alias, "SELECT count(*) FROM oxpull_task")
    return race.value


@pytest.mark.usefixtures("listener")
def test_a_duplicate_that_waits_longer_than_the_database_does_is_a_race(
    short: str, mode: Mode, open_elsewhere: OpenElsewhere
) -> None:
    here = open_elsewhere(short)
    with transaction.atomic(using=short):
        first = shop.charge.enqueue(1)
        race = here.do(charge_in, mode, short)
    assert "nothing was written" in str(race)
    assert ("Enqueue again" in str(race)) == (mode == "autocommit")
    assert ("as it was before" in str(race)) == race.transaction_survived == (mode != "autocommit")
    assert isinstance(race.__cause__, LockTimeout)
    assert isinstance(race.__cause__.__cause__, OperationalError)
    assert counts(short) == (1, 1)
    assert here.do(lambda: shop.charge.enqueue(1).id) == first.id


def test_after_a_timeout_the_same_transaction_may_enqueue_again_and_commit(
    short: str, open_elsewhere: OpenElsewhere
) -> None:
    there, held, let_go = open_elsewhere(short), *two_events()

    def hold() -> str:
        with transaction.atomic(using=short):
            id_ = shop.charge.enqueue(1).id
            held.set()
            assert let_go.wait(PATIENCE)
        return id_

    holding = there.start(hold)
    assert held.wait(PATIENCE)
    with transaction.atomic(using=short):
        with pytest.raises(UniqueEnqueueRace) as race:
            shop.charge.enqueue(1)
        assert race.value.transaction_survived
        let_go.set()
        id_ = holding.result(PATIENCE)
        assert shop.charge.enqueue(1).id == id_
        shop.send_invoice.enqueue(2)
    assert counts(short) == (2, 1)


def test_a_race_is_caught_by_the_names_of_both_packages_and_of_django(
    short: str, open_elsewhere: OpenElsewhere
) -> None:
    with transaction.atomic(using=short):
        shop.charge.enqueue(1)
        race = open_elsewhere(short).do(charge_in, "autocommit", short)
    assert isinstance(race, (errors.UniqueEnqueueRace, Contended))
    assert isinstance(race, django_exceptions.TaskException)


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_a_plain_task_does_not_wait_for_a_key(short: str, open_elsewhere: OpenElsewhere) -> None:
    """On SQLite it does: a file has one writer at a time."""
    with transaction.atomic(using=short):
        shop.charge.enqueue(1)
        assert open_elsewhere(short).do(lambda: shop.send_invoice.enqueue(1).created)
        assert open_elsewhere(short).do(lambda: shop.charge.enqueue(2).created)


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_transaction_on_sqlite_that_read_before_another_wrote_is_refused_at_once(
    short: str, open_elsewhere: OpenElsewhere
) -> None:
    with transaction.atomic(using=short):
        answer(short, "SELECT count(*) FROM oxpull_task")
        open_elsewhere(short).do(shop.send_invoice.enqueue, 1)
        with pytest.raises(
            UniqueEnqueueRace, match="another connection wrote after this transaction had begun"
        ) as race:
            shop.charge.enqueue(1)
        assert "is lost: roll it back and repeat all of it" in str(race.value)
        assert not race.value.transaction_survived
        transaction.set_rollback(True, using=short)
    assert counts(short) == (1, 0)


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_of_two_transactions_that_lock_two_keys_crosswise_one_is_a_race(
    own_site: str, open_elsewhere: OpenElsewhere
) -> None:
    there, took, go = open_elsewhere(own_site), *two_events()

    def crosswise(first: int, second: int, ready: Callable[[], object]) -> UniqueEnqueueRace | None:
        with transaction.atomic(using=own_site):
            shop.charge.enqueue(first)
            ready()
            try:
                shop.charge.enqueue(second)
            except UniqueEnqueueRace as race:
                transaction.set_rollback(True, using=own_site)
                return race
        return None

    def meet() -> None:
        took.set()
        assert go.wait(PATIENCE)

    def reached() -> None:
        assert took.wait(PATIENCE)
        go.set()

    other = there.start(crosswise, 2, 1, meet)
    races = [race for race in (crosswise(1, 2, reached), other.result(PATIENCE)) if race is not None]
    assert len(races) == 1
    assert "deadlock" in str(races[0]).lower()
    assert isinstance(races[0].__cause__, Conflict)
    assert counts(own_site) == (2, 2)


@pytest.mark.parametrize("name", ["pg-rc", "pg-rr", "pg-ser", "my-rc", "my-rr"])
def test_a_duplicate_in_a_long_transaction_holds_up_nothing_of_the_holder(
    own_alias: str, open_elsewhere: OpenElsewhere
) -> None:
    first, there = shop.charge.enqueue(1), open_elsewhere(own_alias)
    with transaction.atomic(using=own_alias):
        assert shop.charge.enqueue(1).id == first.id
        assert there.do(finished, own_alias) == "SUCCESSFUL"


@pytest.mark.parametrize("name", ["my-ser"])
def test_at_serializable_on_mysql_a_duplicate_keeps_the_holder_from_being_claimed_until_it_ends(
    own_alias: str, open_elsewhere: OpenElsewhere
) -> None:
    shop.charge.enqueue(1)
    there = open_elsewhere(own_alias)
    with transaction.atomic(using=own_alias):
        shop.charge.enqueue(1)
        with pytest.raises(ValueError, match="not enough values"):
            there.do(claimed, own_alias)
    assert there.do(claimed, own_alias).attempt == 1


@pytest.mark.parametrize("name", ["pg-rc", "my-rc", "my-rr"])
def test_a_retry_of_an_ended_holder_waits_for_the_transaction_that_took_its_key(
    own_alias: str, open_elsewhere: OpenElsewhere
) -> None:
    first = shop.charge.enqueue(1)
    finished(own_alias, failed=True)
    there, watcher = open_elsewhere(own_alias), open_elsewhere(own_alias)
    with transaction.atomic(using=own_alias):
        second = shop.charge.enqueue(1)
        retried = there.start(actions.retry, first.id)
        until(lambda: watcher.do(is_waited, own_alias), "a retry that waits")
        assert not retried.done()
    assert retried.result(PATIENCE)
    assert shop.charge.enqueue(1).id == second.id


@pytest.fixture
def name() -> str:
    """Name the setting; tests say which."""
    raise NotImplementedError


@pytest.fixture
def own_alias(url_of: Callable[[Kind], str], name: str) -> Iterator[str]:
    """Give a site in a setting."""
    setting: Setting = BY_NAME[name]
    with site_of(url_of(setting.family), **(setting.django or {})) as alias:
        yield alias


@pytest.mark.usefixtures("listener")
@pytest.mark.parametrize("name", ["pg-rr", "pg-ser", "my-rr", "my-ser", "my-rr-si"])
def test_outside_of_a_transaction_a_duplicate_that_waited_is_answered_at_every_level(
    own_alias: str, open_elsewhere: OpenElsewhere
) -> None:
    there, watcher = open_elsewhere(own_alias), open_elsewhere(own_alias)
    with transaction.atomic(using=own_alias):
        first = shop.charge.enqueue(1)
        duplicate = there.start(shop.charge.enqueue, 1)
        until(lambda: watcher.do(is_waited, own_alias), "a duplicate that waits")
    answered = duplicate.result(PATIENCE)
    assert (answered.id, answered.created) == (first.id, False)


@pytest.fixture
def connected(own_alias: str) -> Iterator[list[Any]]:
    """Collect the connections that Django opens on this thread."""
    connections[own_alias].ensure_connection()
    made: list[Any] = []

    def note(connection: Any, **_: Any) -> None:
        made.append(connection)

    connection_created.connect(note)
    yield made
    connection_created.disconnect(note)


@pytest.mark.parametrize("name", ["pg-rr", "pg-ser", "my-rr"])
def test_a_holder_that_changed_after_the_snapshot_is_read_on_a_connection_of_its_own(
    own_alias: str, connected: list[Any], open_elsewhere: OpenElsewhere
) -> None:
    first = shop.charge.enqueue(1)
    with transaction.atomic(using=own_alias):
        answer(own_alias, "SELECT count(*) FROM oxpull_task")
        open_elsewhere(own_alias).do(claimed, own_alias)
        connected.clear()
        assert shop.charge.enqueue(1).id == first.id
        (apart,) = connected
        assert apart.connection is None
        assert apart.settings_dict["OPTIONS"]["connect_timeout"] == 2
        assert "pool" not in apart.settings_dict["OPTIONS"]
    assert apart.alias not in connections.settings


LIMITS = {
    "postgresql": (
        "SELECT setting FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_isolation')",
        [("100",), ("2000",), ("read committed",)],
    ),
    "mysql": (
        "SELECT @@innodb_lock_wait_timeout, @@lock_wait_timeout",
        [(1, 1)],
    ),
}


@pytest.mark.parametrize("name", ["pg-rr", "pg-ser", "my-rr"])
def test_that_connection_has_its_limits_from_before_it_looks(
    own_alias: str, connected: list[Any], open_elsewhere: OpenElsewhere
) -> None:
    limits: list[Any] = []

    def ask(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "oxpull_unique" in sql:
            with context["connection"].connection.cursor() as cursor:
                cursor.execute(LIMITS[context["connection"].vendor][0])
                limits.append(sorted(cursor.fetchall()))
        return execute(sql, params, many, context)

    def watch(connection: Any, **_: Any) -> None:
        connection.execute_wrappers.append(ask)

    shop.charge.enqueue(1)
    with transaction.atomic(using=own_alias):
        answer(own_alias, "SELECT count(*) FROM oxpull_task")
        open_elsewhere(own_alias).do(claimed, own_alias)
        connection_created.connect(watch)
        try:
            shop.charge.enqueue(1)
        finally:
            connection_created.disconnect(watch)
    assert limits == [LIMITS[connections[own_alias].vendor][1]]


@pytest.mark.parametrize("name", ["pg-rc", "pg-rr", "pg-ser", "my-rc", "my-rr", "my-ser"])
def test_outside_of_a_transaction_no_connection_is_opened_for_a_duplicate(
    own_alias: str, connected: list[Any], open_elsewhere: OpenElsewhere
) -> None:
    shop.charge.enqueue(1)
    open_elsewhere(own_alias).do(claimed, own_alias)
    connected.clear()
    assert not shop.charge.enqueue(1).created
    assert connected == []


@pytest.mark.parametrize("name", ["pg-rc", "my-rc", "my-ser"])
def test_where_a_plain_read_is_current_no_connection_is_opened(
    own_alias: str, connected: list[Any], open_elsewhere: OpenElsewhere
) -> None:
    shop.charge.enqueue(1)
    with transaction.atomic(using=own_alias):
        answer(own_alias, "SELECT count(*) FROM oxpull_meta")
        open_elsewhere(own_alias).do(claimed, own_alias)
        connected.clear()
        assert shop.charge.enqueue(1).stored_status == "RUNNING"
    assert connected == []


@pytest.mark.parametrize("name", ["pg-rr", "pg-ser"])
def test_the_project_s_own_limit_on_connecting_stays(url_of: Callable[[Kind], str], name: str) -> None:
    heard: list[Any] = []

    def note(connection: Any, **_: Any) -> None:
        heard.append(connection.settings_dict["OPTIONS"]["connect_timeout"])

    with site_of(url_of("postgres"), **(BY_NAME[name].django or {}), connect_timeout=7) as alias:
        shop.charge.enqueue(1)
        with transaction.atomic(using=alias):
            answer(alias, "SELECT count(*) FROM oxpull_task")
            change_beside(alias)
            connection_created.connect(note)
            try:
                shop.charge.enqueue(1)
            finally:
                connection_created.disconnect(note)
    assert heard == [7]


def change_beside(alias: str) -> None:
    """Let another thread claim the task, and end."""
    there = Elsewhere(alias)
    there.do(claimed, alias)
    there.close()


@pytest.mark.parametrize("name", ["pg-rr", "pg-ser"])
def test_a_race_names_its_cause_and_a_way_out(own_alias: str, open_elsewhere: OpenElsewhere) -> None:
    shop.charge.enqueue(1)
    with transaction.atomic(using=own_alias):
        answer(own_alias, "SELECT count(*) FROM oxpull_task")
        open_elsewhere(own_alias).do(finished, own_alias)
        with pytest.raises(UniqueEnqueueRace, match="which held the key, became SUCCESSFUL") as race:
            shop.charge.enqueue(1)
        assert "READ COMMITTED, or outside of one" in str(race.value)
        assert isinstance(race.value.__cause__, Conflict)
    assert counts(own_alias) == (1, 1)
    assert shop.charge.enqueue(1).created


def two_events() -> tuple[Event, Event]:

    return Event(), Event()
