"""A connection around another one, to be changed in one respect."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from oxpull_async.db.contract import Connection, Dialect, Row, Scalar


class Wrapper:
    """A Connection that hands everything on."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner

    @property
    def dialect(self) -> Dialect:
        return self.inner.dialect

    @property
    def max_batch_bytes(self) -> int:
        return self.inner.max_batch_bytes

    @property
    def in_transaction(self) -> bool:
        return self.inner.in_transaction

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        return await self.inner.fetch(statement, **values)

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        return await self.inner.fetchrow(statement, **values)

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        return await self.inner.execute(statement, **values)

    def transaction(self) -> AbstractAsyncContextManager[None]:
        return self.inner.transaction()

    def after_commit(self, callback: Callable[[], None], /) -> None:
        self.inner.after_commit(callback)

    def apart(self) -> AbstractAsyncContextManager[Connection]:
        return self.inner.apart()

    async def run_script(self, sql: str, /) -> None:
        await self.inner.run_script(sql)
