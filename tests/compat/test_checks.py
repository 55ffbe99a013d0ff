"""`manage.py check` reports every setting that can be wrong, once, and nothing about settings that are right."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.checks import CheckMessage, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.test import override_settings

from compat_sync import placement
from compat_sync.checks import backend_messages, check_schema
from compat_sync.connection import DjangoConnection
from compat_sync.operations import backend_of
from compat_sync.shim import run_blocking
from oxpull_async.store.schema import migrate
from tests.compat import routing
from tests.compat.conftest import Kind, MakeAlias
from tests.compat.django_aliases import add_alias, drop_alias
from tests.fixtures.servers import MakeDatabase

BACKEND = "compat_sync.backend.OxpullBackend"
TASKS_HERE = "tests.compat.checked_tasks"
PLAIN, DECORATED = f"{TASKS_HERE}.plain", f"{TASKS_HERE}.decorated"


def entry(**options: Any) -> dict[str, Any]:
    return {"BACKEND": BACKEND, "QUEUES": ["default", "mail"], "OPTIONS": options}


def ours(messages: list[CheckMessage]) -> list[CheckMessage]:
    return [message for message in messages if str(message.id).startswith("compat_sync.")]


def messages_of(tasks: Mapping[str, Any], *databases: str, **settings: Any) -> list[CheckMessage]:
    with override_settings(TASKS=tasks, **settings):
        return ours(run_checks(databases=databases or None))


def codes(tasks: Mapping[str, Any], *databases: str, **settings: Any) -> list[str]:
    return [str(message.id).removeprefix("compat_sync.") for message in messages_of(tasks, *databases, **settings)]


@contextmanager
def tasks_in(alias: str) -> Iterator[None]:
    before, routing.current["alias"] = routing.current["alias"], alias
    try:
        yield
    finally:
        routing.current["alias"] = before


@pytest.fixture
def on_sqlite(make_alias: MakeAlias) -> Iterator[str]:
    alias = make_alias("sqlite")
    with tasks_in(alias):
        yield alias


def test_right_settings_are_met_with_silence(site: str) -> None:
    assert codes({"default": entry(MAX_ATTEMPTS=3, UNIQUE_TASKS=[PLAIN, DECORATED], LOCK_TIMEOUT=60)}, site) == []


WRONG: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("E002", {"UNIQUE_TASKS": PLAIN}, {"UNIQUE_TASKS": [PLAIN]}),
    ("E002", {"UNIQUE_TASKS": [f"{TASKS_HERE}.absent"]}, {"UNIQUE_TASKS": [DECORATED]}),
    ("E002", {"UNIQUE_TASKS": ["tests.compat.absent.plain"]}, {"UNIQUE_TASKS": []}),
    ("E002", {"UNIQUE_TASKS": [f"{TASKS_HERE}.no_task"]}, {"UNIQUE_TASKS": (PLAIN,)}),
    ("E002", {"UNIQUE_TASKS": [f"{TASKS_HERE}.other_name"]}, {"UNIQUE_TASKS": {PLAIN}}),
    ("E104", {"TASK_TIMEOUT": 0}, {"TASK_TIMEOUT": None}),
    ("E104", {"TASK_TIMEOUTS": {"mail": -1}}, {"TASK_TIMEOUTS": {"mail": None}}),
    ("E104", {"TASK_TIMEOUT_GRACE": None}, {"TASK_TIMEOUT_GRACE": 5}),
    ("E105", {"TASK_TIMEOUTS": {"post": 1}}, {"TASK_TIMEOUTS": {"mail": 1}}),
    ("E110", {"LOCK_TIMEOUT": "300"}, {"LOCK_TIMEOUT": 300}),
    ("E110", {"BACKOFF_INITIAL": 0}, {"BACKOFF_INITIAL": 1}),
    ("E110", {"BACKOFF_MAX": -5}, {"BACKOFF_MAX": 5}),
    ("E111", {"MAX_ATTEMPTS": "x"}, {"MAX_ATTEMPTS": 5}),
    ("E201", {"MAX_ATEMPTS": 5}, {"MAX_ATTEMPTS": 5}),
    ("E203", {"QUEUES": ["mail"]}, {}),
    ("E205", {"UNIQUE_TTL": 0}, {"UNIQUE_TTL": 60}),
    ("E205", {"MAX_PAYLOAD_BYTES": 0}, {"MAX_PAYLOAD_BYTES": 1000}),
    ("E205", {"POOL_SIZE": 0}, {"POOL_SIZE": 5}),
    ("E205", {"POOLER": "x"}, {"POOLER": "session"}),
    ("E205", {"LISTEN_URL": 1}, {"LISTEN_URL": None}),
    ("E206", {"TASK_OPTIONS": {PLAIN: {"max_attempt": 2}}}, {"TASK_OPTIONS": {PLAIN: {"max_attempts": 2}}}),
    ("E207", {"TASK_OPTIONS": {"tests.compat.absent.plain": {}}}, {"TASK_OPTIONS": {PLAIN: {}}}),
    ("E207", {"TASK_OPTIONS": {f"{TASKS_HERE}.no_task": {}}}, {"TASK_OPTIONS": {DECORATED: {}}}),
    ("W103", {"BACKOFF_INITIAL": 9, "BACKOFF_MAX": 5}, {"BACKOFF_INITIAL": 5, "BACKOFF_MAX": 9}),
    ("W104", {"MAX_ATTEMPTS": "5"}, {"MAX_ATTEMPTS": 5}),
    ("I201", {"WORKER_CLASS": "oxpull.worker.OxpullWorker"}, {}),
    ("I201", {"WORKFLOWS": True}, {}),
]


@pytest.mark.parametrize(("code", "wrong", "right"), WRONG)
def test_a_wrong_option_is_reported_once_and_a_right_one_not(
    on_sqlite: str, code: str, wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    [message] = messages_of({"default": entry(**wrong)})
    assert message.id == f"compat_sync.{code}"
    assert "TASKS['default']" in message.msg
    assert message.hint
    assert codes({"default": entry(**right)}) == []


@pytest.mark.parametrize("wrong", [{"QUEUES": "default"}, {"QUEUES": [""]}, {"QUEUES": 5}, {"OPTIONS": []}])
def test_an_entry_of_a_wrong_shape_is_reported_and_crashes_no_check(on_sqlite: str, wrong: dict[str, Any]) -> None:
    assert codes({"default": entry() | wrong}) == ["E204"]
    assert codes({"x" * 129: entry()}) == ["E204"]


def test_a_wrong_alias_gets_a_hint_about_the_alias(on_sqlite: str) -> None:
    [message] = messages_of({"x" * 129: entry()})
    assert "QUEUES" not in str(message.hint)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("MAX_ATTEMPTS", "Move it into OPTIONS"),
        ("UNIQUE_TASKS", "Move it into OPTIONS"),
        ("max_attempts", "Did you mean 'MAX_ATTEMPTS'? It belongs into OPTIONS."),
        ("queues", "Did you mean 'QUEUES'?"),
        ("nonsense", "or remove it"),
    ],
)
def test_a_key_beside_the_backend_is_reported_with_its_place(on_sqlite: str, key: str, hint: str) -> None:
    tasks = {"default": entry() | {key: 9}}
    [message] = messages_of(tasks)
    assert (message.id, repr(key) in message.msg, hint in str(message.hint)) == ("compat_sync.E215", True, True)
    with override_settings(TASKS=tasks), pytest.raises(ImproperlyConfigured, match=r"compat_sync\.E215"):
        backend_of("default").setup  # noqa: B018 - it is read by an enqueue


def test_all_that_is_wrong_in_task_options_is_reported_at_once(on_sqlite: str) -> None:
    paths = {PLAIN: {"timeout": 0}, "tests.compat.absent.plain": {}, DECORATED: {"max_attempts": 2}}
    assert codes({"default": entry(TASK_OPTIONS=paths)}) == ["E206", "E207"]


def test_every_alias_is_checked(on_sqlite: str) -> None:
    tasks = {"default": entry(MAX_ATTEMPTS="x"), "other": entry(POOL_SIZE=0), "third": entry()}
    assert sorted(codes(tasks)) == ["E111", "E205"]


def test_a_backend_of_another_kind_is_no_business_of_ours(make_alias: MakeAlias) -> None:
    other = {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend", "OPTIONS": {"NONSENSE": 1}}
    with tasks_in(make_alias("sqlite")):
        assert codes({"default": other}, USE_TZ=False) == []
        assert codes({"default": other, "ours": entry()}, USE_TZ=False) == ["E210"]


def test_a_backend_for_an_alias_that_is_not_in_the_settings_is_reported(on_sqlite: str) -> None:
    with override_settings(TASKS={"default": entry()}):
        assert [message.id for message in ours(backend_messages("absent", entry()))] == ["compat_sync.E003"]
        assert backend_messages("default", entry()) == []


def test_aliases_that_differ_by_case_only_are_reported(on_sqlite: str) -> None:
    assert codes({"default": entry(), "Default": entry()}) == ["W201"]
    assert codes({"default": entry(), "other": entry()}) == []


def schedule(path: str) -> dict[str, Any]:
    return {"SCHEDULES": {"nightly": {"task": path, "cron": "0 3 * * *", "args": [1]}}}


def test_scheduling_a_unique_task_is_reported(on_sqlite: str) -> None:
    for options in (schedule(DECORATED), schedule(PLAIN) | {"UNIQUE_TASKS": [PLAIN]}):
        assert codes({"default": entry(**options)}) == ["W001"]
    by_options = schedule(PLAIN) | {"TASK_OPTIONS": {PLAIN: {"unique": True}}}
    assert codes({"default": entry(**by_options)}) == ["W001"]


def test_scheduling_another_task_is_not_called_unique(on_sqlite: str) -> None:
    not_unique = schedule(DECORATED) | {"TASK_OPTIONS": {DECORATED: {"unique": False}}}
    for options in (schedule(PLAIN), not_unique):
        assert codes({"default": entry(**options)}) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "x", {"nightly": 5}, {"": {"task": PLAIN, "every": 5}}, {"db:1": {"task": PLAIN, "every": 5}},
        {"nightly": {"task": PLAIN}}, {"nightly": {"task": PLAIN, "cron": "0 0 30 2 *"}},
        {"nightly": {"task": PLAIN, "every": 5, "queue_name": "absent"}},
        {"nightly": {"task": PLAIN, "every": 5, "x": 1}},
        {"nightly": {"task": f"{TASKS_HERE}.absent", "every": 5}}, {"nightly": {"task": "os.path.join", "every": 5}},
        {"nightly": {"task": PLAIN, "every": 5, "args": [object()]}}, {"nightly": {"task": PLAIN, "every": 5}},
        {"nightly": {"task": PLAIN, "every": 5, "args": [1, 2]}},
        {"nightly": {"task": PLAIN, "every": 5, "args": [1], "kwargs": {"order": 1}}},
        {"nightly": {"task": PLAIN, "every": 5, "kwargs": {"odrer": 1}}},
    ],
)  # fmt: skip
def test_a_wrong_schedule_is_reported(on_sqlite: str, wrong: Any) -> None:
    assert codes({"default": entry(SCHEDULES=wrong)}) == ["E102"]
    right = {"nightly": {"task": PLAIN, "args": [1], "every": 5, "phase": 1, "tz": "Asia/Tokyo", "catch_up": "all"}}
    assert codes({"default": entry(SCHEDULES=right)}) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "x", {"report": 5}, {"": PLAIN}, {"report": {"task": PLAIN, "fields": 1}}, {"report": f"{TASKS_HERE}.absent"},
        {"report": {"task": PLAIN, "form": f"{TASKS_HERE}.absent"}}, {"report": {"task": PLAIN, "form": PLAIN}},
        {"report": {"task": PLAIN, "permission": 5}},
    ],
)  # fmt: skip
def test_a_wrong_schedulable_task_is_reported(on_sqlite: str, wrong: Any) -> None:
    assert codes({"default": entry(SCHEDULABLE_TASKS=wrong)}) == ["E107"]
    right = {"report": PLAIN, "form": {"task": PLAIN, "form": "django.forms.Form", "permission": "shop.add_order"}}
    assert codes({"default": entry(SCHEDULABLE_TASKS=right)}) == []


def test_a_source_of_schedules_of_somebodys_own_is_reported(on_sqlite: str) -> None:
    assert codes({"default": entry(SCHEDULE_SOURCE="shop.schedules.Source")}) == ["E106"]
    assert codes({"default": entry(SCHEDULE_SOURCE="django_ox.stored.DatabaseScheduleSource")}) == ["I201"]


class Split:
    """A router that puts tasks and locks into different databases."""

    def db_for_write(self, model: Any, **_hints: object) -> str | None:
        return f"{model.__name__}-database" if model._meta.app_label == placement.APP else None


def test_routers_that_split_the_tables_are_reported(on_sqlite: str) -> None:
    with override_settings(DATABASE_ROUTERS=[Split()]):
        assert codes({"default": entry()}) == ["E004"]
    assert codes({"default": entry()}) == []


class To:
    """A router that names an alias, or raises, and allows tables or not."""

    def __init__(self, alias: str | Exception, *, may_migrate: bool | None = None) -> None:
        self.alias, self.may_migrate = alias, may_migrate

    def db_for_write(self, _model: Any, **_hints: object) -> str:
        """Name the alias."""
        if isinstance(self.alias, Exception):
            raise self.alias
        return self.alias

    def allow_migrate(self, _alias: str, _app: str, **_hints: object) -> bool | None:
        """Allow what was said."""
        return self.may_migrate


@pytest.mark.parametrize(("answer", "said"), [("nowhere", "'nowhere', which is no alias"), (ValueError("no"), "no")])
def test_a_router_with_a_wrong_answer_crashes_no_check(on_sqlite: str, answer: str | Exception, said: str) -> None:
    with override_settings(DATABASE_ROUTERS=[To(answer)]):
        [message] = messages_of({"default": entry()}, on_sqlite)
    assert (message.id, said in message.msg) == ("compat_sync.E004", True)


def test_routers_that_let_nobody_make_the_tables_are_reported(site: str) -> None:
    with override_settings(DATABASE_ROUTERS=[To(site, may_migrate=False)]):
        assert codes({"default": entry()}, site) == ["W205"]
    with override_settings(DATABASE_ROUTERS=[To(site, may_migrate=True)]):
        assert codes({"default": entry()}, site) == []


def test_the_database_in_memory_of_a_test_run_is_no_warning() -> None:
    for name, expected in (("file:memorydb_default?mode=memory&cache=shared", []), (":memory:", ["W202"])):
        add_alias("memory", "sqlite:///x.db")
        connections["memory"].settings_dict["NAME"] = name
        try:
            with tasks_in("memory"):
                assert codes({"default": entry()}) == expected
        finally:
            connections["memory"].settings_dict["NAME"] = "x.db"  # Django does not close one in memory
            drop_alias("memory")


def test_a_database_of_an_unknown_kind_is_reported() -> None:
    with tasks_in("default"):  # Django's dummy
        assert codes({"default": entry()}) == ["E209"]


def test_time_zones_off_are_reported(site: str) -> None:
    assert codes({"default": entry()}, USE_TZ=False) == ["E210"]


def test_a_database_that_stores_local_time_is_reported(site: str, kind: Kind) -> None:
    settings_dict = connections[site].settings_dict
    for zone, is_wrong in ((None, False), ("UTC", False), ("Europe/Vienna", kind != "postgres")):
        settings_dict["TIME_ZONE"] = zone
        assert codes({"default": entry()}) == ["E211"] * is_wrong


def test_a_pooler_is_reported_where_no_database_listens(site: str, kind: Kind) -> None:
    url = "postgresql://localhost/shop"
    assert codes({"default": entry(POOLER="transaction", LISTEN_URL=url)}) == ["E208", "E208"] * (kind != "postgres")


UNEXPRESSIBLE: dict[Kind, tuple[str, object]] = {
    "postgres": ("load_balance_hosts", "random"),
    "mysql": ("read_timeout", 30),
    "sqlite": ("init_command", "ATTACH DATABASE ':memory:' AS beside"),
}


def test_a_key_of_databases_that_the_native_driver_cannot_express_is_named(make_alias: MakeAlias, kind: Kind) -> None:
    key, value = UNEXPRESSIBLE[kind]
    with tasks_in(make_alias(kind, **{key: value})):
        [message] = messages_of({"default": entry()})
    assert message.id == "compat_sync.W202"
    assert key in message.msg
    with tasks_in(make_alias(kind)):
        assert codes({"default": entry()}) == []


def test_a_missing_native_driver_is_reported_with_its_extra(
    site: str, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = {"postgres": "asyncpg", "mysql": "aiomysql", "sqlite": "aiosqlite"}[kind]
    monkeypatch.setitem(sys.modules, library, None)
    [message] = messages_of({"default": entry()})
    assert message.id == "compat_sync.W203"
    assert f"oxpull-async[{kind}]" in message.msg


def test_tables_that_are_missing_are_reported_only_with_the_database(make_database: MakeDatabase, kind: Kind) -> None:
    add_alias("bare", make_database(kind))
    conn = DjangoConnection("bare")
    try:
        with tasks_in("bare"):
            assert codes({"default": entry()}) == []
            [message] = messages_of({"default": entry()}, "bare")
            assert message.id == "compat_sync.W204"
            assert message.hint == "Run `manage.py migrate --database bare`."
            run_blocking(migrate(conn, run_blocking(conn.uuid_type())))
            assert codes({"default": entry()}, "bare") == []
            run_blocking(conn.execute("record_migration", version=9999, name="later"))
            assert codes({"default": entry()}, "bare") == ["E213"]
    finally:
        drop_alias("bare")


def test_another_database_is_not_asked(on_sqlite: str, make_alias: MakeAlias) -> None:
    add_alias("bare", "sqlite:////nowhere/at/all.db")
    try:
        with tasks_in("bare"):
            assert codes({"default": entry()}, on_sqlite) == []
    finally:
        drop_alias("bare")


def test_a_server_that_is_too_old_is_reported(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connections[site].close()
    features = connections[site].features
    monkeypatch.setattr(type(features), "minimum_database_version", (99, 0))
    vars(features).pop("minimum_database_version", None)
    with override_settings(TASKS={"default": entry()}):
        [message] = check_schema(databases=[site])
    assert message.id == "compat_sync.E212"
    assert "99" in message.msg


def test_a_mariadb_whose_ids_do_not_sort_by_time_is_reported(make_alias: MakeAlias) -> None:
    alias = make_alias("mysql")
    django = connections[alias]
    for version, expected in (((10, 11, 4), ["E212"]), ((10, 11, 5), [])):
        vars(django)["mysql_version"] = version
        with tasks_in(alias):
            assert codes({"default": entry()}, alias) == expected


AWAY: dict[Kind, str] = {
    "postgres": "postgresql://127.0.0.1:1/x",
    "mysql": "mysql://127.0.0.1:1/x",
    "sqlite": "sqlite:////nowhere/at/all.db",
}


def test_a_database_that_does_not_answer_is_reported(kind: Kind) -> None:
    add_alias("away", AWAY[kind])
    try:
        with tasks_in("away"), override_settings(TASKS={"default": entry()}):
            [message] = check_schema(databases=["away"])
    finally:
        drop_alias("away")
    assert message.id == "compat_sync.E214"
