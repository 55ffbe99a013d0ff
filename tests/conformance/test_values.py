"""F2: whatever is accepted comes back as it went, with the same types at every level."""

import json
from pathlib import Path
from typing import Any

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.domain.values import JsonValue, encode, normalise
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import report_progress, settle
from tests.fixtures import make

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "values.json").read_text()
)["accepted"]  # fmt: skip


def typed(value: object) -> object:
    """Make equality tell 1, 1.0 and True apart."""
    if isinstance(value, list):
        return [typed(item) for item in value]
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return type(value), value


def stored_and_expected(vector: dict[str, Any]) -> tuple[object, JsonValue]:
    stored = eval(vector["python"]) if "python" in vector else vector["json"]  # noqa: S307 - our own file
    return stored, vector.get("json", normalise(stored))


def written(value: object) -> str:
    return encode(value, path="args", max_bytes=1_048_576)


async def test_F2_arguments_come_back_with_their_types(conn: Connection) -> None:
    pairs = [stored_and_expected(vector) for vector in VECTORS if "depth 100" not in vector["note"]]
    tasks = [make.new_task(args=written([value]), kwargs=written({"k": value})) for value, _ in pairs]
    await enqueue_many(conn, tasks)
    found = await get_tasks(conn, [task.id for task in tasks])
    for (_, expected), task in zip(pairs, tasks, strict=True):
        assert typed(found[task.id].args) == typed([expected])
        assert typed(found[task.id].kwargs) == typed({"k": expected})


async def test_F2_a_single_enqueue_keeps_arguments_too(conn: Connection) -> None:
    for vector in VECTORS:
        stored, expected = stored_and_expected(vector)
        task = await make.ready(conn, args=written(stored))
        assert typed(task.args) == typed(expected)


async def test_F2_return_values_come_back_with_their_types(conn: Connection) -> None:
    pairs = [stored_and_expected(vector) for vector in VECTORS]
    await enqueue_many(conn, [make.new_task() for _ in pairs])
    claimed = await make.claimed(conn, await make.worker(conn), limit=len(pairs))
    await settle(
        conn,
        [
            Settlement(make.lease(task), Succeeded(written(value)))
            for task, (value, _) in zip(claimed, pairs, strict=True)
        ],
    )
    found = await get_tasks(conn, [task.id for task in claimed])
    for task, (_, expected) in zip(claimed, pairs, strict=True):
        assert typed(found[task.id].return_value) == typed(expected)


async def test_F2_claimed_arguments_are_the_same_json(conn: Connection) -> None:
    pairs = [stored_and_expected(vector) for vector in VECTORS if "depth 100" not in vector["note"]]
    tasks = [make.new_task(args=written([value])) for value, _ in pairs]
    await enqueue_many(conn, tasks)
    claimed = {task.id: task for task in await make.claimed(conn, await make.worker(conn), limit=len(pairs))}
    for (_, expected), task in zip(pairs, tasks, strict=True):
        assert typed(json.loads(claimed[task.id].args)) == typed([expected])


async def test_F2_a_progress_report_comes_back(conn: Connection) -> None:
    task = await make.running(conn)
    progress = {"done": 1, "total": 2.0, "note": "Grüße 🌍 \\ ' \" %s"}
    assert await report_progress(conn, make.lease(task), json.dumps(progress))
    assert typed((await make.record(conn, task.id)).progress) == typed(progress)
