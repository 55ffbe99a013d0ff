"""How our own connections of aiomysql read: whole buffers at once, all rows in one loop.

The library awaits twice for each row and looks up a converter for each value. Not here: what a connection is set up for
(`aiomysql_link`).
"""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import aiomysql
from aiomysql.connection import COMMAND, CR, FIELD_TYPE, TEXT_TYPES, MySQLResult, decoders

type Read = Callable[[bytes], Any]

_CHUNK = 256 * 1024
_HEAD = 4  # size 3, number 1
_FIELD_TAIL = 12  # character set 2, length 4, type 1, flags 2, decimals 1, filler 2
_BINARY = 63
_NULL, _WIDTHS = 251, {252: 2, 253: 3, 254: 8}
_END, _ERROR, _LONGEST_END, _WHOLE = 254, 255, 8, 0xFFFFFF
_INTEGERS = (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG, FIELD_TYPE.INT24, FIELD_TYPE.YEAR)


class Answer(MySQLResult):  # type: ignore[misc]
    """What the server answers to one command; it knows of its columns only how they are read."""

    rows: Any
    affected_rows: Any

    def __init__(self, wire: "Wire") -> None:
        super().__init__(wire)
        self._wire = wire
        self._readers: list[Read] = []

    async def _get_descriptions(self) -> None:
        # A field's packet ends in a part of fixed length, and nothing before it matters here.
        tails = [(await self._wire.packet()).get_all_data()[-_FIELD_TAIL:] for _ in range(self.field_count)]
        self._readers = [_reader(tail[6], tail[0] | tail[1] << 8) for tail in tails]
        await self._wire.packet()

    async def _read_rowdata_packet(self) -> None:
        rows: list[tuple[Any, ...]] = []
        while True:
            self._wire.take_rows(self._readers, rows)
            packet = await self._wire.packet()  # the end, or a row of which a part is still to come
            if self._check_packet_is_eof(packet):
                break
            rows.append(row_at(packet.get_all_data(), 0, self._readers))
        self.affected_rows = len(rows)
        self.rows = rows


class Wire(aiomysql.Connection):  # type: ignore[misc]
    """A connection that reads all that has arrived, and begins with the first command."""

    _held = b""
    _at = 0
    _begins = False
    _next_seq_id: int

    def begin_with_next(self) -> None:
        """Open a transaction together with the next command, in the same trip."""
        self._begins = True

    def never_begin(self) -> bool:
        """Forget a transaction that no command has opened yet; False where there is none."""
        begins, self._begins = self._begins, False
        return begins

    def get_transaction_status(self) -> bool:
        """Whether a transaction is open, or opens with the next command."""
        return self._begins or bool(super().get_transaction_status())

    async def ask(self, sql: bytes) -> Answer:
        """Run SQL, several commands where it has several; returns the last one's answer."""
        begins = self.never_begin()
        await self._execute_command(COMMAND.COM_QUERY, b"BEGIN;" + sql if begins else sql)
        answer = await self._answer()
        while answer.has_next:
            answer = await self._answer()
        return answer

    async def packet(self) -> Any:
        """Read the next packet whole; raises what the server answers where that is an error."""
        return await self._read_packet()

    def take_rows(self, readers: list[Read], rows: list[tuple[Any, ...]]) -> None:
        """Move all rows that have arrived whole from the buffer into `rows`."""
        held, at, ends, before = self._held, self._at, len(self._held), len(rows)
        while ends - at > _HEAD:
            size = held[at] | held[at + 1] << 8 | held[at + 2] << 16
            first = held[at + _HEAD]
            is_last = first == _ERROR or (first == _END and size <= _LONGEST_END)
            if is_last or size == _WHOLE or at + _HEAD + size > ends:
                break
            rows.append(row_at(held, at + _HEAD, readers))
            at += _HEAD + size
        self._at = at
        self._next_seq_id = (self._next_seq_id + len(rows) - before) % 256

    async def _answer(self) -> Answer:
        self._result = None
        answer = Answer(self)
        await answer.read()
        self._result, self._affected_rows = answer, answer.affected_rows
        if answer.server_status is not None:
            self.server_status = answer.server_status
        return answer

    async def _execute_command(self, command: int, sql: bytes | str) -> None:
        if self.never_begin():  # somebody uses the connection by its own methods
            await self.ask(b"BEGIN")
        await super()._execute_command(command, sql)

    async def _read_bytes(self, num_bytes: int) -> bytes:
        at = self._at
        if len(self._held) - at < num_bytes:
            await self._fill(num_bytes)
            at = 0
        self._at = at + num_bytes
        return self._held[at : at + num_bytes]

    async def _fill(self, size: int) -> None:
        """Have at least `size` unread bytes in the buffer, and all that has arrived."""
        parts = [self._held[self._at :]]
        have = len(parts[0])
        self._held, self._at = b"", 0
        while have < size:
            try:
                part = await self._reader.read(_CHUNK)
            except OSError as error:
                self.close()
                raise aiomysql.OperationalError(CR.CR_SERVER_LOST, f"the connection was lost ({error})") from error
            if not part:
                self.close()
                raise aiomysql.OperationalError(CR.CR_SERVER_LOST, "the server closed the connection")
            parts.append(part)
            have += len(part)
        self._held = b"".join(parts)


def row_at(held: bytes, place: int, readers: list[Read]) -> tuple[Any, ...]:
    """Read the row that begins at a place of the buffer, where all of it has arrived."""
    row: list[Any] = []
    for read in readers:
        length = held[place]
        place += 1
        if length >= _NULL:
            if length == _NULL:
                row.append(None)
                continue
            width = _WIDTHS[length]
            length = int.from_bytes(held[place : place + width], "little")
            place += width
        ends = place + length
        row.append(read(held[place:ends]))
        place = ends
    return tuple(row)


def _reader(kind: int, charset: int) -> Read:
    """Return what reads a column of a type, to the same values as the library does."""
    if kind in _INTEGERS:
        return int
    if kind in (FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP):
        return _instant
    if kind in (FIELD_TYPE.DOUBLE, FIELD_TYPE.FLOAT):
        return float
    if kind in (FIELD_TYPE.NEWDECIMAL, FIELD_TYPE.DECIMAL):
        return _decimal
    if kind in TEXT_TYPES and kind != FIELD_TYPE.JSON and charset == _BINARY:
        return bytes
    convert = decoders.get(kind)
    return _text if convert is None or kind in TEXT_TYPES else lambda value: convert(value.decode())


_text: Read = bytes.decode


def _decimal(value: bytes) -> Decimal:
    return Decimal(value.decode())


def _instant(value: bytes) -> Any:
    try:
        return datetime.fromisoformat(value.decode())
    except ValueError:  # such as a date without a month, which some servers store
        return decoders[FIELD_TYPE.DATETIME](value.decode())
