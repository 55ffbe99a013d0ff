"""Whether a blocked thread waits for the running coroutine, and lends its connections.

asgiref keeps an executor for each thread that waits in `async_to_sync`: work that is sensitive to threads runs there.
It has no public name for that. tests/compat/test_asgiref.py holds asgiref to the names that are used here and in
`compat_sync.worker.around`, and the extra `django` to the versions that have them.
"""

import asyncio

from asgiref.sync import AsyncToSync

__all__ = ["has_sync_caller"]


def has_sync_caller() -> bool:
    """Say whether this coroutine runs below `async_to_sync`, whose thread waits for it."""
    executor = getattr(AsyncToSync.executors, "current", None)
    if executor is not None and not getattr(executor, "_broken", False):
        return True
    return asyncio.get_running_loop() in AsyncToSync.loop_thread_executors
