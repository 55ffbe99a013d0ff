"""One database, several drivers: what any of them writes, every other one reads, and so do Django's own fields."""

import json
from datetime import UTC, datetime, timedelta
from itertools import permutations
from uuid import UUID

import pytest
from django.db import connections

from compat_sync.connection import DjangoConnection
from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Failed
from oxpull_async.domain.record import TaskRecord
from tests.compat.read_model import TaskRow
from tests.conformance.conftest import Atlas
from tests.conformance.worlds import WORLDS
from tests.fixtures import make, raw

KINDS = {"postgres": "asyncpg", "mysql": "aiomysql", "sqlite": "aiosqlite"}
PAIRS = [pair for kind, native in KINDS.items() for pair in permutations((native, f"django-{kind}"))]
ARGUMENTS = json.dumps([1, 1.0, 1e16, "Grüße 🌍 ' \\ %s", None, True, [], {"k": 0.1}])


async def eventful(conn: Connection) -> TaskRecord:
    """Store a task with something in nearly every column."""
    await raw.empty(conn)
    when = datetime(2020, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
    task = await make.running(conn, args=ARGUMENTS, kwargs='{"a": {"b": [1.5]}}', run_after=when, timeout=0.1)
    await make.settled(conn, task, Failed(make.ERROR, 0.0))
    await make.claimed(conn, await make.worker(conn))
    return await make.record(conn, task.id)


@pytest.mark.parametrize(("writer", "reader"), PAIRS, ids=[f"{writer} to {reader}" for writer, reader in PAIRS])
def test_what_one_driver_writes_another_reads(atlas: Atlas, writer: str, reader: str) -> None:
    here, there = atlas.world(writer), atlas.world(reader)
    with here.lend() as conn, there.lend() as other:
        written = here.run(eventful(conn))
        assert there.run(make.record(other, written.id)) == written


@pytest.mark.parametrize(("writer", "reader"), PAIRS, ids=[f"{writer} to {reader}" for writer, reader in PAIRS])
def test_what_one_driver_enqueues_another_claims_and_settles(atlas: Atlas, writer: str, reader: str) -> None:
    here, there = atlas.world(writer), atlas.world(reader)
    with here.lend() as conn, there.lend() as other:
        here.run(raw.empty(conn))
        task = here.run(make.ready(conn, args=ARGUMENTS))
        [claimed] = there.run(make.claimed(other, there.run(make.worker(other))))
        assert json.loads(claimed.args) == json.loads(ARGUMENTS)
        assert there.run(make.settled(other, claimed, Failed(make.ERROR, None))) == "FAILED"
        ended = here.run(make.record(conn, task.id))
        assert (ended.status, ended.attempts, len(ended.errors)) == ("FAILED", 1, 1)


@pytest.mark.parametrize("writer", [name for name in WORLDS if not name.startswith("restless")])
def test_F4_django_s_fields_understand_every_column(atlas: Atlas, writer: str) -> None:
    here, django = atlas.world(writer), atlas.world(f"django-{WORLDS[writer][0]}")
    with here.lend() as conn, django.lend() as reader:
        written = here.run(eventful(conn))
        assert isinstance(reader, DjangoConnection)
        found = TaskRow.objects.using(reader.alias).get(id=UUID(written.id))
    assert (str(found.id), str(found.leased_by)) == (written.id, written.leased_by)
    assert (found.args, found.kwargs) == (written.args, written.kwargs)
    assert [type(item) for item in found.args] == [type(item) for item in written.args]
    assert (found.run_after, found.enqueued_at) == (written.run_after, written.enqueued_at)
    assert (found.priority, found.status, found.timeout) == (0, "RUNNING", 0.1)
    assert found.begun is True
    assert len(found.errors) == 1


@pytest.mark.parametrize("writer", [name for name in WORLDS if not name.startswith("restless")])
def test_F4_django_s_filters_find_what_any_driver_wrote(atlas: Atlas, writer: str) -> None:
    here, django = atlas.world(writer), atlas.world(f"django-{WORLDS[writer][0]}")
    with here.lend() as conn, django.lend() as reader:
        written = here.run(eventful(conn))
        assert isinstance(reader, DjangoConnection)
        rows = TaskRow.objects.using(reader.alias)
        assert rows.filter(kwargs__a__b__0=1.5).count() == 1
        assert rows.filter(enqueued_at__gte=written.enqueued_at, enqueued_at__lte=written.enqueued_at).count() == 1
        assert rows.filter(enqueued_at__lt=written.enqueued_at - timedelta(microseconds=1)).count() == 0
        assert rows.filter(run_after=written.run_after).count() == 1
        assert rows.filter(begun=True, leased_by=written.leased_by).count() == 1


@pytest.mark.parametrize("name", [name for name in WORLDS if name.startswith("django")])
def test_F4_columns_have_the_types_that_django_s_fields_would_create(atlas: Atlas, name: str) -> None:
    world = atlas.world(name)
    with world.lend() as conn:
        assert isinstance(conn, DjangoConnection)
        django = connections[conn.alias]
        assert world.uuid_type() == TaskRow._meta.get_field("id").db_type(django)
        with django.cursor() as cursor:
            columns = django.introspection.get_table_description(cursor, "oxpull_task")
    nullable = {column.name: bool(column.null_ok) for column in columns}
    expected = {field.column: field.null for field in TaskRow._meta.concrete_fields}
    assert {column: nullable[column] for column in expected} == expected
