"""A connection on which something happens between two statements, as if another caller had done it."""

from collections.abc import Awaitable, Callable, Sequence

from oxpull_async.db.contract import Connection, Row, Scalar
from tests.conformance.wrapper import Wrapper


class Meanwhile(Wrapper):
    """A Connection around another one; `happens` is awaited once, after the first statement of a name."""

    def __init__(self, inner: Connection, statement: str, happens: Callable[[Connection], Awaitable[object]]) -> None:
        super().__init__(inner)
        self.has_happened = False
        self._statement = statement
        self._happens = happens

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        rows = await super().fetch(statement, **values)
        await self._after(statement)
        return rows

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        row = await super().fetchrow(statement, **values)
        await self._after(statement)
        return row

    async def _after(self, statement: str) -> None:
        if statement == self._statement and not self.has_happened:
            self.has_happened = True
            await self._happens(self.inner)
