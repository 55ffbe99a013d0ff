"""A connection that lets the event loop go round before and after each call.

Whatever in the core silently relies on two calls following each other without a break fails over it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from oxpull_async.db.contract import Connection, Row, Scalar
from tests.conformance.wrapper import Wrapper


class Restless(Wrapper):
    """A Connection around another one."""

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        async with _pauses():
            return await super().fetch(statement, **values)

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        async with _pauses():
            return await super().fetchrow(statement, **values)

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        async with _pauses():
            return await super().execute(statement, **values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with _pauses(), super().transaction(), _pauses():
            yield

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[Connection]:
        async with _pauses(), super().apart() as conn:
            yield Restless(conn)

    async def run_script(self, sql: str, /) -> None:
        async with _pauses():
            await super().run_script(sql)


@asynccontextmanager
async def _pauses() -> AsyncIterator[None]:
    await asyncio.sleep(0)
    try:
        yield
    finally:
        await asyncio.sleep(0)
