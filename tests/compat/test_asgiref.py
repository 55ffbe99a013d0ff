"""The names of asgiref's without a promise that `compat_sync.caller` and `compat_sync.worker.around` rely on."""

import asyncio

from asgiref.sync import AsyncToSync, SyncToAsync, ThreadSensitiveContext, async_to_sync, sync_to_async

from compat_sync.caller import has_sync_caller


def test_a_waiting_thread_has_its_executor_by_the_names_that_are_asked() -> None:
    async def look() -> bool:
        executor = AsyncToSync.executors.current
        assert executor._broken is False
        assert isinstance(AsyncToSync.loop_thread_executors, dict)
        return has_sync_caller()

    assert async_to_sync(look)()


def test_without_one_nobody_waits() -> None:
    async def look() -> bool:
        assert asyncio.get_running_loop() not in AsyncToSync.loop_thread_executors
        return has_sync_caller()

    assert not asyncio.run(look())


def test_a_context_has_its_thread_by_the_names_that_are_asked() -> None:
    async def look() -> None:
        place = ThreadSensitiveContext()
        SyncToAsync.thread_sensitive_context.set(place)
        assert place not in SyncToAsync.context_to_thread_executor
        await sync_to_async(str)()
        executor = SyncToAsync.context_to_thread_executor.pop(place)
        executor.submit(str).result()
        executor.shutdown()

    asyncio.run(look())
