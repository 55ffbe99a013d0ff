"""Reading stored tasks."""

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store.results import TaskFilter, get_task, get_tasks, list_tasks
from tests.fixtures import make


async def test_a_task_that_is_not_there_is_none(conn: Connection) -> None:
    assert await get_task(conn, make.new_id()) is None


async def test_an_id_may_be_written_with_or_without_hyphens(conn: Connection) -> None:
    task = await make.ready(conn)
    assert await get_task(conn, task.id.replace("-", "")) == task


async def test_an_id_comes_back_in_its_usual_form(conn: Connection) -> None:
    task = make.new_task()
    assert (await make.running(conn, id=task.id)).id == task.id


async def test_tasks_come_by_id_and_missing_ones_are_left_out(conn: Connection) -> None:
    tasks = [await make.ready(conn) for _ in range(3)]
    wanted = [tasks[0].id, make.new_id(), tasks[2].id]
    assert await get_tasks(conn, wanted) == {tasks[0].id: tasks[0], tasks[2].id: tasks[2]}
    assert await get_tasks(conn, []) == {}


async def test_a_list_has_the_newest_first(conn: Connection) -> None:
    tasks = [await make.ready(conn) for _ in range(3)]
    assert await list_tasks(conn, make.ALIAS, TaskFilter()) == tasks[::-1]
    assert await list_tasks(conn, make.ALIAS, TaskFilter(limit=2)) == [tasks[2], tasks[1]]


async def test_a_list_holds_one_backend_s_tasks(conn: Connection) -> None:
    await make.ready(conn, backend_alias="other")
    assert await list_tasks(conn, make.ALIAS, TaskFilter()) == []


async def test_a_list_may_be_filtered_by_each_column_and_by_all(conn: Connection) -> None:
    mail = await make.ready(conn, queue_name="mail", task_path="a.one")
    bulk = await make.ready(conn, queue_name="bulk", task_path="a.two")
    ended = await make.discarded(conn, queue_name="mail", task_path="a.two")
    filters = {
        TaskFilter(status=TaskStatus.DISCARDED): [ended],
        TaskFilter(queue_name="mail"): [ended, mail],
        TaskFilter(task_path="a.two"): [ended, bulk],
        TaskFilter(status=TaskStatus.READY, queue_name="bulk", task_path="a.two"): [bulk],
        TaskFilter(status=TaskStatus.READY, queue_name="mail", task_path="a.two"): [],
    }
    for wanted, expected in filters.items():
        assert await list_tasks(conn, make.ALIAS, wanted) == expected


async def test_a_record_of_every_status_can_be_read(conn: Connection) -> None:
    for status, build in make.BUILDERS.items():
        task = await build(conn, queue_name=str(status))
        assert task.status is status
        assert task.status.is_finished == (task.finished_at is not None)
        assert (task.leased_by is not None) == (status is TaskStatus.RUNNING)
