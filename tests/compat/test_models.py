"""The read models: what the columns are, what can be asked, and that nothing is written through them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.apps.registry import Apps
from django.core.management import call_command
from django.db import connections, models
from django.db.migrations.state import ModelState, ProjectState
from django.tasks import task
from django.test import override_settings

from compat_sync import clock
from compat_sync.connection import DjangoConnection
from compat_sync.managers import ReadOnlyModel
from compat_sync.models import (
    OxpullBatch,
    OxpullBatchCounts,
    OxpullBatchMember,
    OxpullLock,
    OxpullQueue,
    OxpullRateLimit,
    OxpullRateStart,
    OxpullRateWindow,
    OxpullSchedule,
    OxpullTask,
    OxpullTick,
    OxpullUniqueKey,
    OxpullWorker,
    OxpullWorkflow,
    OxpullWorkflowCounts,
    OxpullWorkflowEdge,
    OxpullWorkflowNode,
)
from compat_sync.shim import run_blocking
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.unique import Unique
from oxpull_async.store import queues, unique
from oxpull_async.store.settle import report_progress
from tests.compat.described import our_tables
from tests.fixtures import make, raw

MODELS: tuple[type[models.Model], ...] = (
    OxpullTask, OxpullUniqueKey, OxpullLock, OxpullWorker, OxpullQueue, OxpullBatch, OxpullBatchCounts,
    OxpullBatchMember, OxpullSchedule, OxpullTick, OxpullRateLimit, OxpullRateStart, OxpullRateWindow, OxpullWorkflow,
    OxpullWorkflowCounts, OxpullWorkflowNode, OxpullWorkflowEdge,
)  # fmt: skip
WITHOUT_MODEL = {"oxpull_meta", "oxpull_schema"}
COLUMNS = {
    "postgresql": "SELECT column_name, data_type, character_maximum_length, is_nullable, ''"
    " FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = %s",
    "mysql": "SELECT column_name, column_type, character_maximum_length, is_nullable, extra"
    " FROM information_schema.columns WHERE table_schema = database() AND table_name = %s",
    "sqlite": "SELECT name, lower(type), NULL, \"notnull\", CASE WHEN hidden > 1 THEN 'VIRTUAL' ELSE '' END"
    " FROM pragma_table_xinfo(%s)",
}
TASKS, KEYS, LOCKS = OxpullTask.objects, OxpullUniqueKey.objects, OxpullLock.objects


@pytest.fixture
def moved_clock() -> Iterator[Callable[[float], None]]:
    """Move the clock of Django's statements."""
    yield clock.set_offset
    clock.set_offset(0)


def greet() -> None:
    """Do nothing; a task as a project declares it."""


def columns(alias: str, table: str) -> dict[str, tuple[object, ...]]:
    """Read the columns that are not computed."""
    with connections[alias].cursor() as cursor:
        cursor.execute(COLUMNS[connections[alias].vendor], [table])
        return {row[0]: tuple(row[1:4]) for row in cursor.fetchall() if "VIRTUAL" not in row[4]}


def twin(model: type[models.Model], table: str) -> type[models.Model]:
    """Give the same model as one whose table Django makes."""
    state, project = ModelState.from_model(model), ProjectState()
    state.options |= {"managed": True, "db_table": table}
    project.add_model(state)
    made: type[models.Model] = project.apps.get_model("compat_sync", model.__name__)
    return made


@pytest.mark.parametrize("model", MODELS)
def test_F4_columns_are_those_that_djangos_fields_would_make(site: str, model: type[models.Model]) -> None:
    ours = twin(model, f"twin_of_{model.__name__.lower()}")
    with connections[site].schema_editor() as editor:
        editor.create_model(ours)
    try:
        wanted = columns(site, ours._meta.db_table)
        assert wanted
        assert columns(site, model._meta.db_table) == wanted
    finally:
        with connections[site].schema_editor() as editor:
            editor.delete_model(ours)


def test_every_table_has_a_model_but_for_those_that_describe_the_schema(site: str) -> None:
    assert set(our_tables(site)) - WITHOUT_MODEL == {model._meta.db_table for model in MODELS}


def test_F4_a_task_that_the_core_wrote_reads_as_djangos_own_values(site: str) -> None:
    conn = DjangoConnection(site)
    when = datetime(2031, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
    deep = "[" * 60 + "]" * 60
    worker = run_blocking(make.worker(conn))
    later = run_blocking(make.ready(conn, run_after=when, args=f"[1,2.0,{deep}]", kwargs='{"a":"ü"}', timeout=1.5))
    done = run_blocking(make.running(conn, worker))
    run_blocking(report_progress(conn, make.lease(done), '{"done": 1}'))
    run_blocking(make.settled(conn, done, Succeeded('{"id": 18446744073709551615}')))
    task = TASKS.get(pk=later.id)
    assert (task.id, task.run_after, task.timeout, task.begun) == (UUID(later.id), when, 1.5, False)
    assert (task.args[:2], str(task.args[2]), task.kwargs) == ([1, 2.0], deep, {"a": "ü"})
    assert task.args[1].__class__ is float
    settled = TASKS.get(pk=done.id)
    assert (settled.status, settled.is_finished, task.is_finished) == ("SUCCESSFUL", True, False)
    assert (settled.return_value, settled.progress) == ({"id": 2**64 - 1}, {"done": 1})
    assert settled.worker_ids == [worker] or settled.worker_ids == [UUID(worker).hex]
    assert (settled.errors, settled.leased_by, settled.cancel_requested) == ([], None, False)
    assert settled.finished_at is not None
    assert settled.finished_at.tzinfo is UTC


def test_the_other_rows_can_be_read_too(site: str) -> None:
    conn = DjangoConnection(site)
    worker = run_blocking(make.worker(conn))
    run_blocking(unique.enqueue_unique_many(conn, [make.unique_call(Unique())]))
    run_blocking(make.running(conn, worker, queue_name="locked", lock_key="lock", lock_limit=1, lock_conflict="wait"))
    run_blocking(queues.set_paused(conn, make.ALIAS, "mail", paused=True))
    [key] = KEYS.all()
    assert (key.pk, key.holder_id) == (make.KEY, TASKS.get(unique_key=make.KEY).id)
    assert [lock.pk for lock in LOCKS.all()] in ([], ["lock"])
    [process] = OxpullWorker.objects.living()
    assert process.id == UUID(worker)
    assert process.pid > 0
    assert not OxpullWorker.objects.silent().exists()
    [queue] = OxpullQueue.objects.all()
    assert (queue.pk, queue.paused, str(queue)) == ((make.ALIAS, "mail"), True, "mail (paused)")
    assert str(worker) in str(process)
    assert str(key) == f"{make.KEY} held by {key.holder_id}"


def test_a_worker_whose_lease_ran_out_is_silent(site: str) -> None:
    conn = DjangoConnection(site)
    dead = run_blocking(make.dead_worker(conn))
    assert [worker.id for worker in OxpullWorker.objects.silent()] == [UUID(dead)]
    assert not OxpullWorker.objects.living().exists()


def test_tasks_are_found_by_where_they_are_in_their_life(site: str) -> None:
    conn = DjangoConnection(site)
    made = {
        name: UUID(run_blocking(getattr(make, name)(conn, queue_name=name)).id)
        for name in ("lost", "failed", "successful", "running", "discarded", "waiting", "ready")
    }
    for name, task_id in made.items():
        found = getattr(TASKS, name)()
        assert [task.id for task in found] == [task_id], name
    ended = {made[name] for name in ("lost", "failed", "successful", "discarded")}
    assert {task.id for task in TASKS.finished()} == ended
    assert {task.id for task in TASKS.unfinished()} == set(made.values()) - ended
    assert [task.id for task in TASKS.all()] == sorted(made.values(), reverse=True)
    assert TASKS.unfinished().counts_by_queue() == {
        "running": {"RUNNING": 1},
        "waiting": {"WAITING": 1},
        "ready": {"READY": 1},
    }
    assert TASKS.on_queue("failed").counts_by_queue() == {"failed": {"FAILED": 1}}
    assert str(TASKS.lost().get()) == f"{make.PATH} {made['lost']} (LOST)"


def test_tasks_are_found_by_their_path_or_their_declaration(site: str) -> None:
    path = f"{__name__}.greet"
    stored = run_blocking(make.ready(DjangoConnection(site), task_path=path))
    run_blocking(make.ready(DjangoConnection(site)))
    assert [found.id for found in TASKS.of_task(path)] == [UUID(stored.id)]
    assert [found.id for found in TASKS.of_task(task(greet))] == [UUID(stored.id)]


def test_tasks_are_found_by_exactly_their_arguments(site: str) -> None:
    conn = DjangoConnection(site)
    task = run_blocking(make.ready(conn, args='[1,"\\u00fc",2.0]', kwargs='{"order":{"id":7},"copy":true}'))
    run_blocking(make.ready(conn, args="[1]"))
    assert TASKS.get(args=[1, "ü", 2.0]).id == UUID(task.id)
    assert TASKS.get(kwargs={"order": {"id": 7}, "copy": True}).id == UUID(task.id)
    assert TASKS.get(kwargs__order__id=7).id == UUID(task.id)
    assert TASKS.get(kwargs__order={"id": 7}).id == UUID(task.id)
    assert not TASKS.filter(args=[1, "ü"]).exists()


def test_F1_what_is_due_is_said_by_the_database_wherever_its_session_is(
    site: str, moved_clock: Callable[[float], None]
) -> None:
    conn = DjangoConnection(site)
    now = UUID(run_blocking(make.ready(conn)).id)
    later = UUID(run_blocking(make.ready(conn, delay=600)).id)

    def due_and_scheduled() -> tuple[set[UUID], set[UUID]]:
        return {task.id for task in TASKS.due()}, {task.id for task in TASKS.scheduled()}

    assert due_and_scheduled() == ({now}, {later})
    away_from_utc = raw.away_from_utc(conn)
    run_blocking(away_from_utc.__aenter__())
    assert due_and_scheduled() == ({now}, {later})
    moved_clock(timedelta(minutes=11).total_seconds())
    assert due_and_scheduled() == ({now, later}, set())
    run_blocking(away_from_utc.__aexit__(None, None, None))


WRITES: dict[str, Callable[[OxpullTask], object]] = {
    "save": lambda task: task.save(),
    "asave": lambda task: async_to_sync(task.asave)(),
    "delete": lambda task: task.delete(),
    "adelete": lambda task: async_to_sync(task.adelete)(),
    "objects.create": lambda _: TASKS.create(status="READY"),
    "objects.get_or_create": lambda task: TASKS.get_or_create(id=task.id),
    "objects.update_or_create": lambda task: TASKS.update_or_create(id=task.id),
    "objects.bulk_create": lambda task: TASKS.bulk_create([task]),
    "objects.bulk_update": lambda task: TASKS.bulk_update([task], ["status"]),
    "objects.update": lambda _: TASKS.update(status="READY"),
    "a query's update": lambda _: TASKS.ready().update(status="FAILED"),
    "a query's aupdate": lambda _: async_to_sync(TASKS.ready().aupdate)(status="FAILED"),
    "a query's delete": lambda _: TASKS.ready().delete(),
    "the base manager's update": lambda _: OxpullTask._base_manager.update(status="FAILED"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_nothing_is_written_through_a_model(site: str, write: Callable[[OxpullTask], object]) -> None:
    conn = DjangoConnection(site)
    task = run_blocking(make.ready(conn))
    with pytest.raises(ReadOnlyModel, match=r"compat_sync\.actions"):
        write(TASKS.get())
    assert run_blocking(make.record(conn, task.id)) == task


@pytest.mark.parametrize("build", [make.ready, make.discarded], ids=["ready", "discarded"])
def test_a_fixture_puts_no_task_back_to_what_it_was(site: str, tmp_path: Path, build: Callable[..., Any]) -> None:
    conn, dump = DjangoConnection(site), tmp_path / "dump.json"
    task = run_blocking(build(conn))
    call_command("dumpdata", "compat_sync", database=site, output=str(dump), verbosity=0)
    with pytest.raises(ReadOnlyModel, match=r"rows of OxpullTask .* dumpdata --exclude compat_sync"):
        call_command("loaddata", str(dump), database=site, verbosity=0)
    assert run_blocking(make.record(conn, task.id)) == task


@pytest.mark.parametrize("model", MODELS)
def test_a_model_made_of_ours_takes_no_fixture_either(model: type[models.Model]) -> None:
    meta = type("Meta", (), {"proxy": True, "app_label": "compat_sync", "apps": Apps()})
    proxy = type(f"Proxy{model.__name__}", (model,), {"__module__": __name__, "Meta": meta})
    for kind in (model, proxy):
        with pytest.raises(ReadOnlyModel, match=kind.__name__):
            models.Model.save_base(kind(), raw=True)


@pytest.mark.parametrize("model", MODELS)
def test_no_model_of_ours_can_be_saved_or_deleted(model: type[Any]) -> None:
    for write in (model().save, model().delete, model.objects.all().delete, model.objects.update):
        with pytest.raises(ReadOnlyModel, match=model.__name__):
            write()


def test_every_read_goes_to_where_the_tasks_are_written(site: str) -> None:
    class Replicated:
        def db_for_read(self, _model: type, **_hints: Any) -> str:
            return "a replica that does not exist"

        def db_for_write(self, _model: type, **_hints: Any) -> str:
            return site

    task = run_blocking(make.ready(DjangoConnection(site)))
    with override_settings(DATABASE_ROUTERS=[Replicated()]):
        found = TASKS.ready().get()
        found.refresh_from_db()
        assert found.id == UUID(task.id)
        assert TASKS.db == site
        assert TASKS.raw("SELECT id FROM oxpull_task")[0].id == found.id
        assert (TASKS.count(), TASKS.exists(), TASKS.in_bulk([found.id])) == (1, True, {found.id: found})
        assert (TASKS.all() | TASKS.failed()).count() == 1
        assert TASKS.using("another").db == "another"
