"""Blocks whose async calls are one transaction, wherever they go."""

from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from django.db import connections, transaction

from compat_sync.backend import OxpullBackend
from compat_sync.caller import has_sync_caller
from compat_sync.enqueuing import native_block
from compat_sync.exceptions import translated
from compat_sync.threads import on_django, pinned

__all__ = ["one_transaction"]


@asynccontextmanager
async def one_transaction(home: OxpullBackend) -> AsyncGenerator[None]:
    """Keep what the block stores, by whatever alias of ours, in one transaction.

    It belongs to the asyncio task that enters it. Below a sync caller it is a savepoint of that caller's transaction.
    """
    if home.goes_native:
        block = _native(home)
    elif has_sync_caller():
        block = _atomic(home.database)
    else:
        block = _on_a_thread(home.database)
    async with block:
        yield


@asynccontextmanager
async def _native(home: OxpullBackend) -> AsyncGenerator[None]:
    with translated():
        async with native_block(home.ox):
            yield


@asynccontextmanager
async def _atomic(database: str) -> AsyncGenerator[None]:
    block = transaction.atomic(using=database)
    await on_django(block.__enter__)
    try:
        yield
    except BaseException as error:
        await on_django(block.__exit__, type(error), error, error.__traceback__)
        raise
    await on_django(block.__exit__, None, None, None)


@asynccontextmanager
async def _on_a_thread(database: str) -> AsyncGenerator[None]:
    """Keep the block's calls on one thread, whose connection has the transaction."""
    with ThreadPoolExecutor(1, thread_name_prefix="compat_sync-block") as pool, pinned(pool):
        try:
            async with _atomic(database):
                yield
        finally:
            await on_django(connections.close_all)
