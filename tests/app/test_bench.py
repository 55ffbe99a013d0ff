"""`oxpull bench`: every workload gives its samples, and a database that is in use is left alone."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from benchmarks import WORKLOADS
from benchmarks.measure import measure
from benchmarks.workload import Scale
from oxpull_async.cli.bench import bench_command
from oxpull_async.errors import UsageError
from tests.app.kit import add, open_oxpull
from tests.fixtures.servers import MakeDatabase

TINY = Scale(
    repeats=1, single=20, callers=5, bulk=50, drained=50, pick_ups=3, other_rows=200, claims=2
)  # fmt: skip

WITHOUT_PROCESSES = {
    one.name for one in WORKLOADS if not one.name.startswith(("drain, 1 process,", "drain, 2", "pick"))
}


@pytest.mark.parametrize("kind", ["postgres", "mysql", "sqlite"])
def test_every_workload_is_measured(kind: str, make_database: MakeDatabase) -> None:
    url = make_database(kind)  # type: ignore[arg-type]
    chosen = WORKLOADS if kind == "sqlite" else [one for one in WORKLOADS if one.name in WITHOUT_PROCESSES]

    async def run() -> dict[str, int]:
        return {one.name: len(one.samples) async for one in measure(url, TINY, chosen) if min(one.samples) > 0}

    assert asyncio.run(run()) == {workload.name: 1 for workload in chosen}


def test_a_database_that_holds_tasks_is_refused(sqlite_url: str) -> None:
    async def run() -> None:
        async with open_oxpull(sqlite_url) as ox:
            await ox.migrate()
            await ox.task(add).enqueue(1)
        async for _ in measure(sqlite_url, TINY, WORKLOADS[:1]):
            pass

    with pytest.raises(UsageError, match=r"holds 1 task\(s\): benchmarks need a database of their own"):
        asyncio.run(run())


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(bench_command, [*arguments])
    return result.exit_code, result.output


def test_the_command_prints_every_sample_for_machines() -> None:
    code, output = invoke("--quick", "--only", "enqueue_many", "--json")
    document = json.loads(output)
    assert code == 0
    assert document["scale"]["repeats"] == len(document["results"][0]["samples"]) == 3
    assert {"python", "server", "packages", "cpus", "at"} <= document.keys()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--quick", "--only", "enqueue_many"), "enqueue_many"),
        (("--only", "nothing like it"), "there are enqueue, one"),
    ],
)
def test_the_command_speaks_to_people(arguments: tuple[str, ...], says: str) -> None:
    assert says in invoke(*arguments)[1]
