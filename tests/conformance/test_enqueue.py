"""Storing new tasks: one, many, in the caller's transaction or not at all."""

from oxpull_async.db.contract import Connection
from tests.fixtures import make


async def test_an_enqueued_task_is_ready(conn: Connection) -> None:
    task = await make.ready(conn)
    assert task.status == "READY"


async def test_each_builder_makes_its_status(conn: Connection) -> None:
    for status, build in make.BUILDERS.items():
        task = await build(conn, queue_name=f"queue-{status}")
        assert task.status is status
