"""An Oxpull acts on its own alias only, however many share the database."""

import pytest

from oxpull_async import Oxpull, Worker
from oxpull_async.domain.record import TaskStatus
from oxpull_async.errors import InvalidTask, TaskResultDoesNotExist

pytestmark = pytest.mark.asyncio


async def test_another_alias_neither_sees_nor_changes_a_task(ox: Oxpull) -> None:
    @ox.task
    async def work() -> None: ...

    result = await work.enqueue()
    async with Oxpull(_url(ox), alias="other") as other:
        with pytest.raises(TaskResultDoesNotExist):
            await other.get_result(result.id)
        assert not await other.cancel(result.id)
        assert not await other.discard(result.id)
        assert await other.cancel_many([result.id]) == (0, 1)
    await result.refresh()
    assert result.status is TaskStatus.READY


async def test_another_alias_prunes_and_retries_nothing_of_ours(ox: Oxpull) -> None:
    @ox.task(max_attempts=1)
    async def fail() -> None:
        raise ValueError

    @ox.task
    async def work() -> None: ...

    failed, done = await ox.enqueue_many([fail.call(), work.call()])
    await Worker(ox, burst=True).run()
    async with Oxpull(_url(ox), alias="other") as other:
        assert not await other.retry(failed.id)
        assert (await other.prune(older_than=0)).removed == 0
    await done.refresh()
    assert done.status is TaskStatus.SUCCESSFUL
    assert (await ox.prune(older_than=0)).removed == 1


async def test_two_functions_cannot_have_one_path(ox: Oxpull) -> None:
    async def work() -> None: ...

    ox.task(work)
    first = work

    async def work() -> int:  # type: ignore[no-redef]
        return 1

    with pytest.raises(InvalidTask, match="two tasks have the path"):
        ox.task(work)
    assert ox.task(first).path.endswith(".work")


async def test_a_lambda_is_no_task(ox: Oxpull) -> None:
    with pytest.raises(InvalidTask, match="a lambda has no name"):
        ox.task(lambda: None)


def _url(ox: Oxpull) -> str:
    url = ox.database.url  # type: ignore[attr-defined] # every native database keeps its URL
    if url.family == "sqlite":
        return f"sqlite:///{url.database}"
    scheme = {"postgres": "postgresql"}.get(url.family, url.family)
    return f"{scheme}://{url.user}@{url.host}:{url.port}/{url.database}"
