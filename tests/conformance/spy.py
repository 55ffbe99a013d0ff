"""A connection that notes what passes through it, and may promise less room per statement."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from oxpull_async.db.contract import Connection, Row, Scalar
from tests.conformance.wrapper import Wrapper


class Spy(Wrapper):
    """A Connection around another one; `sent` lists statements with the bytes of their values.

    `transactions` counts the transactions and savepoints that were begun.
    """

    def __init__(self, inner: Connection, max_batch_bytes: int | None = None) -> None:
        super().__init__(inner)
        self.sent: list[tuple[str, int]] = []
        self.transactions = 0
        self._max_batch_bytes = max_batch_bytes

    @property
    def max_batch_bytes(self) -> int:
        return self._max_batch_bytes or self.inner.max_batch_bytes

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        self._note(statement, values)
        return await super().fetch(statement, **values)

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        self._note(statement, values)
        return await super().fetchrow(statement, **values)

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        self._note(statement, values)
        return await super().execute(statement, **values)

    def transaction(self) -> AbstractAsyncContextManager[None]:
        self.transactions += 1
        return super().transaction()

    def _note(self, statement: str, values: dict[str, Scalar]) -> None:
        self.sent.append((statement, sum(len(value) for value in values.values() if isinstance(value, str))))
