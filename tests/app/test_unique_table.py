"""Every cell of the tables in docs/unique.md, for one call and for a call among many, on each database."""

from dataclasses import dataclass
from typing import Any

import pytest

from oxpull_async import Oxpull, Task, TaskResult, TaskStatus, Unique
from oxpull_async.domain.record import TaskId, task_id, wire_id
from oxpull_async.errors import AlreadyEnqueued, InvalidTask
from tests.app.kit import nothing, placeholders, subtract
from tests.docs.unique import Cell, cells, table
from tests.fixtures import raw

pytestmark = pytest.mark.asyncio

ENDED = "attempts = 1, due = NULL"
STATES = {
    "READY": None,
    "READY again": "attempts = 1",
    "WAITING": "status = 'WAITING', waiting_for = 'edges', due = NULL",
    "RUNNING": f"status = 'RUNNING', {ENDED}",
    "SUCCESSFUL": f"status = 'SUCCESSFUL', {ENDED}",
    "FAILED": f"status = 'FAILED', {ENDED}",
    "LOST": f"status = 'LOST', {ENDED}",
    "DISCARDED": "status = 'DISCARDED', due = NULL",
    "ended": f"status = 'SUCCESSFUL', {ENDED}",
}
ANSWERS = {
    "new": ("new", True, "new", [2]),
    "holder": ("holder", False, "holder", [1]),
    "refused": ("holder", None, "holder", [1]),
    "refused for the follow-up": ("follow-up", None, "holder", [3]),
    "rewritten": ("holder", False, "holder", [2]),
    "follow-up": ("new", True, "holder", [2]),
    "follow-up read": ("follow-up", False, "holder", [3]),
    "follow-up rewritten": ("follow-up", False, "holder", [2]),
    "promoted": ("follow-up", False, "follow-up", [3]),
    "promoted, rewritten": ("follow-up", False, "follow-up", [2]),
}
"""For each word: who answers, `created`, who holds the key then, and the arguments of who answers."""

AT = 1
WITH_FOLLOW_UP = ", with follow-up"


@dataclass(frozen=True)
class Stage:
    """A key with its holder, and perhaps a follow-up, before the enqueue that is looked at."""

    ox: Oxpull
    task: Task[..., Any]
    names: dict[TaskId, str]
    key: str

    def name(self, id_: TaskId) -> str:
        return self.names.get(id_, "new")

    async def enqueue(self, *, bulk: bool) -> TaskResult[Any]:
        """Enqueue with the argument 2, alone or between others."""
        if not bulk:
            return await self.task.enqueue(2)
        other = self.ox.task(subtract)
        results = await self.ox.enqueue_many(
            [other.call(0, 0), self.task.call(2), other.using(unique=True).call(len(self.key), hash(self.key))]
        )
        assert [results[0].created, results[2].created] == [True, True]
        return results[AT]

    async def holder(self) -> str:
        """Name whom the key's lock row names."""
        async with self.ox.transaction() as tx:
            sql = f"SELECT holder_id FROM oxpull_unique WHERE unique_key = {placeholders(self.ox, 1)}"
            return self.name(task_id((await tx.fetch(sql, self.key))[0][0]))


def rule(cell: Cell) -> Unique:
    """Spell the rule of a cell's row; each cell has a key of its own."""
    options: dict[str, Any] = {"until": cell.until, "on_duplicate": cell.mode, "key": lambda *_, **__: repr(cell)}
    if cell.mode == "debounce":
        options |= {"wait": 5}
    if cell.until == "expired" or cell.holder == "ttl over":
        options |= {"ttl": 3600}
    return Unique(**options)


async def prepare(ox: Oxpull, cell: Cell) -> Stage:
    """Bring a key's holder into the state of a cell."""
    task = ox.task(nothing).using(unique=rule(cell))
    holder = await task.enqueue(1)
    names, state = {holder.id: "holder"}, cell.holder
    async with ox.transaction() as tx:
        key = (await tx.fetch(f"SELECT unique_key FROM oxpull_task WHERE id = '{wire_id(holder.id)}'"))[0][0]
    async with ox.database.connection() as conn:
        if state.endswith(WITH_FOLLOW_UP):
            state = state.removesuffix(WITH_FOLLOW_UP)
            await raw.change(conn, holder.id, STATES["RUNNING"] or "")
            again = Unique(on_duplicate="rerun", key=lambda *_, **__: repr(cell))
            follow_up = await task.using(unique=again).enqueue(3)
            assert (follow_up.created, follow_up.status) == (True, TaskStatus.WAITING)
            names[follow_up.id] = "follow-up"
            await raw.change(conn, holder.id, "status = 'READY', due = 1")
        if state == "row gone":
            await conn.run_script(f"DELETE FROM oxpull_task WHERE id = '{wire_id(holder.id)}'")
        elif state == "ttl over":
            past = "expires_at = '2001-01-01 00:00:00.000000'"
            await conn.run_script(f"UPDATE oxpull_unique SET {past} WHERE unique_key = '{key}'")
        elif change := STATES[state]:
            await raw.change(conn, holder.id, change)
    return Stage(ox, task, names, key)


async def outcome(stage: Stage, *, bulk: bool) -> tuple[str, bool | None, str, list[int]]:
    """Enqueue, and say what came of it in the words of ANSWERS."""
    created: bool | None = None
    found: object
    try:
        result = await stage.enqueue(bulk=bulk)
    except AlreadyEnqueued as refused:
        found, position = refused.existing, refused.position
    else:
        found, created, position = result, result.created, AT if bulk else None
    assert isinstance(found, TaskResult)
    assert position == (AT if bulk else None)
    shown, stored = found.record, (await stage.ox.get_result(found.id)).record
    assert shown == stored
    return stage.name(found.id), created, await stage.holder(), stored.args


@pytest.mark.parametrize("bulk", [False, True], ids=["single", "bulk"])
@pytest.mark.parametrize("name", ["holders", "follow-ups"])
async def test_C2_every_cell_of_the_documented_table_is_what_an_enqueue_gets(ox: Oxpull, name: str, bulk: bool) -> None:
    wrong = []
    for cell in cells(name):
        got = await outcome(await prepare(ox, cell), bulk=bulk)
        if got != ANSWERS[cell.word]:
            wrong.append((cell, got))
    assert wrong == []


async def test_C2_the_words_of_the_table_are_explained_and_say_what_created_is() -> None:
    explained = {row[0]: row[2] for row in table("words")[1:]}
    assert explained == {word: "-" if answer[1] is None else str(answer[1]) for word, answer in ANSWERS.items()}
    assert {cell.word for name in ("holders", "follow-ups") for cell in cells(name)} == set(ANSWERS)


async def test_C2_what_is_not_in_the_table_is_refused_where_it_is_declared() -> None:
    shown = {(cell.until, cell.mode) for cell in cells("holders")}
    modes = ("existing", "raise", "replace", "debounce", "rerun")
    for until, mode in ((until, mode) for until in ("settled", "started", "expired") for mode in modes):
        cell = Cell(until, mode, "READY", "")
        if (until, mode) in shown:
            assert rule(cell).until == until
        else:
            with pytest.raises(InvalidTask):
                rule(cell)
