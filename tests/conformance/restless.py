"""A connection that lets the event loop go round before and after each call.

Whatever in the core silently relies on two calls following each other without a break fails over it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from oxpull_async.db.contract import Connection, Dialect, Row, Scalar


class Restless:
    """A Connection around another one."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner

    @property
    def dialect(self) -> Dialect:
        return self.inner.dialect

    @property
    def max_batch_bytes(self) -> int:
        return self.inner.max_batch_bytes

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        async with _pauses():
            return await self.inner.fetch(statement, **values)

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        async with _pauses():
            return await self.inner.fetchrow(statement, **values)

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        async with _pauses():
            return await self.inner.execute(statement, **values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with _pauses(), self.inner.transaction(), _pauses():
            yield

    def after_commit(self, callback: Callable[[], None], /) -> None:
        self.inner.after_commit(callback)

    async def run_script(self, sql: str, /) -> None:
        async with _pauses():
            await self.inner.run_script(sql)


@asynccontextmanager
async def _pauses() -> AsyncIterator[None]:
    await asyncio.sleep(0)
    try:
        yield
    finally:
        await asyncio.sleep(0)
