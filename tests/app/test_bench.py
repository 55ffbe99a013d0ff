"""`oxpull bench`: every workload gives its samples, and a database that is in use is left alone."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from benchmarks import WORKLOADS
from benchmarks.bars import BARS, BEST_PEER, Bar
from benchmarks.compare import compare
from benchmarks.comparison import Comparison, Row
from benchmarks.contestants import BESIDE, IDLE, OURS, RAW, Contestant, Kind, Store, beside, measured_on
from benchmarks.measure import measure
from benchmarks.places import REDIS, NoPlace, Places
from benchmarks.plot import plot
from benchmarks.report import tables
from benchmarks.workload import Scale
from oxpull_async.cli.bench import bench_command
from oxpull_async.errors import UsageError
from tests.app.kit import add, open_oxpull
from tests.fixtures.servers import MakeDatabase
from tests.scenarios.ratios import judged, measured

TINY = Scale(
    repeats=1, single=20, callers=5, bulk=50, drained=50, pick_ups=3, other_rows=200, claims=2, naps=20, flowing=100,
    locked=20, nodes=20, idle_seconds=0.2,
)  # fmt: skip

WITH_PROCESSES = ("drain", "pick", "coroutines", "last tenth", "member", "workflow")
WITHOUT_PROCESSES = {one.name for one in WORKLOADS if not one.name.startswith(WITH_PROCESSES)}


@pytest.mark.parametrize("kind", ["postgres", "mysql", "sqlite"])
def test_every_workload_is_measured(kind: str, make_database: MakeDatabase) -> None:
    url = make_database(kind)  # type: ignore[arg-type]
    chosen = WORKLOADS if kind == "sqlite" else [one for one in WORKLOADS if one.name in WITHOUT_PROCESSES]

    async def run() -> dict[str, int]:
        found = [one async for one in measure(url, TINY, chosen)]
        return {one.name: len(one.samples) for one in found if min(one.samples) > 0 or one.name.startswith("idle")}

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
        (("--quick", "--only", "enqueue_many", "--only", "enqueue, one"), "enqueue, one caller"),
        (("--only", "enqueue", "--only", "nothing like it"), "there are enqueue, one"),
    ],
)
def test_the_command_speaks_to_people(arguments: tuple[str, ...], says: str) -> None:
    assert says in invoke(*arguments)[1]


def test_peers_are_measured_beside_us_and_what_cannot_run_says_why(tmp_path: Path) -> None:
    comparison = Comparison(not_run={"huey": "no such package"})
    measured: dict[str, list[float | None]] = {
        OURS: [10.0, 30.0, 20.0], RAW: [20.0, 40.0, 40.0], "slow": [5.0, None, 4.0],
    }  # fmt: skip
    for name, samples in measured.items():
        comparison.rows.append(Row("enqueue", "tasks/s", name, samples, {}))
    [(title, rows)] = tables(comparison)
    assert title == "enqueue (tasks/s)"
    assert [row[0] for row in rows] == [RAW, OURS, "slow"]
    assert rows[1] == (OURS, "20.0", "10.0", "30.0", "0.50", "")
    assert rows[2][-1] == "x 3.50", "the median of 10 / 5 and 20 / 4: only rounds that both have count"
    drawn = ET.fromstring(plot(comparison, "a & b"))  # noqa: S314 - it is our own
    assert {"slow", "20.0", "a & b"} <= {"".join(text.itertext()) for text in drawn.iter() if text.text}


def test_a_comparison_runs_each_contestant_in_a_process_of_its_own(tmp_path: Path) -> None:
    samples, svg = tmp_path / "samples.json", tmp_path / "plot.svg"
    options = ("--quick", "--rounds", "1", "--only", "unique, fresh", "--with", OURS)
    code, output = invoke("--peers", *options, "--samples", str(samples), "--svg", str(svg))
    document = json.loads(samples.read_text(encoding="utf-8"))
    assert code == 0
    assert "unique, fresh keys (tasks/s)" in output
    assert [len(row["samples"]) for row in document["results"]] == [1]
    assert document["contestants"][OURS].keys() >= {"aiosqlite"}
    assert {"processor", "settings", "not_run"} <= document.keys()
    assert svg.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(("kind", "workload"), [("postgres", "drain, 1 process"), ("mysql", "drain, 1 process"),
                                                 ("sqlite", "drain, 1 process"), ("postgres", IDLE)])  # fmt: skip
def test_raw_sql_stands_beside_us_on_every_database(kind: Store, workload: str, make_database: MakeDatabase) -> None:
    """The idle worker is measured of us alone, since raw SQL polls."""
    contestants = [one for one in beside(kind) if one.name in {OURS, RAW}]
    scale = replace(TINY, idle_seconds=1.0)
    chosen = (contestants, [workload])
    comparison = asyncio.run(compare(make_database(kind), REDIS, scale, chosen, lambda _: None))  # type: ignore[arg-type]
    found = {(row.workload, row.contestant) for row in comparison.rows if row.values}
    if workload == IDLE:
        assert found == {("idle worker, processor", OURS), ("idle worker, transactions", OURS)}
    else:
        assert found == {(workload, OURS), (workload, RAW)}, comparison.not_run


def test_a_drain_beside_other_rows_leaves_them_alone(make_database: MakeDatabase) -> None:
    ours = next(one for one in beside("postgres") if one.name == OURS)
    chosen = ([ours], ["drain beside more urgent scheduled tasks"])
    comparison = asyncio.run(compare(make_database("postgres"), REDIS, TINY, chosen, lambda _: None))
    [row] = comparison.rows
    assert row.values, comparison.not_run
    assert row.unit == "of an empty table's"


@pytest.mark.parametrize("kind", ["ended", "later"])
def test_whoever_is_measured_beside_other_rows_has_a_statement_that_writes_them(kind: Kind) -> None:
    has = {one.name for one in beside("postgres") if one.statement(kind)}
    assert has == {OURS, RAW, "pgqueuer", "procrastinate", "chancy", "oban", "django-ox"}
    assert {what for what, _ in BESIDE.values()} == {"ended", "later"}


def test_a_contestant_that_nobody_knows_is_named_with_those_that_there_are() -> None:
    code, output = invoke("--peers", "--with", "celery")
    assert code != 0
    assert "nobody of the name celery runs on this database: there are oxpull-async" in output


def test_a_contestant_that_cannot_be_installed_is_reported_and_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OXPULL_BENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    missing = Contestant("missing", "with_huey.py", "sqlite", ("oxpull-bench-no-such-package",))
    scale = Scale(repeats=1, single=1)
    comparison = asyncio.run(compare("sqlite:///none", REDIS, scale, ([missing], ["bulk"]), lambda _: None))
    assert comparison.rows == []
    assert "no-such-package" in comparison.not_run["missing"]


def test_a_redis_database_that_is_away_is_a_reason(tmp_path: Path) -> None:
    async def make() -> str:
        return await Places("postgresql://x", tmp_path, "redis://127.0.0.1:1/0").make(Contestant("x", "x", "redis"))

    with pytest.raises(NoPlace, match=r"no Redis answers at 127\.0\.0\.1:1"):
        asyncio.run(make())


def test_a_bar_is_held_by_the_median_of_ratios_or_by_the_figure_itself() -> None:
    comparison = Comparison()
    for name, rate, wait in [(OURS, [9.0, 8.0], [2.0, 2.0]), (RAW, [10.0, 10.0], [1.0, 1.0])]:
        comparison.rows.append(Row("drain", "tasks/s", name, [*rate], {}))
        comparison.rows.append(Row("pick-up", "ms", name, [*wait], {}))
    held = {
        bar.title: bar.is_held(comparison)
        for bar in [
            Bar("sqlite", "drain", "drain", 0.85, RAW), Bar("sqlite", "drain", "drain", 0.86, RAW),
            Bar("sqlite", "pick-up", "pick-up", 0.5, RAW), Bar("sqlite", "pick-up", "pick-up", 0.6, RAW),
            Bar("sqlite", "pick-up", "pick-up", 2.0), Bar("sqlite", "pick-up", "pick-up", 1.9),
            Bar("sqlite", "drain", "drain", 8.5), Bar("sqlite", "drain", "drain", 8.6),
        ]
    }  # fmt: skip
    assert [*held.values()] == [True, False] * 4
    with pytest.raises(AssertionError, match=r"drain: 0.9 x raw SQL asked, 0.85 reached"):
        judged(comparison, (Bar("sqlite", "drain", "drain", 0.9, RAW),), 2)
    with pytest.raises(LookupError, match="pgqueuer was not measured at drain"):
        Bar("sqlite", "drain", "drain", 0.9, "pgqueuer").reached(comparison)


def test_a_bar_of_each_database_is_measured_by_what_it_names(sqlite_url: str) -> None:
    bars = tuple(bar for bar in BARS if (bar.store, bar.workload) == ("sqlite", "enqueue, one caller"))
    comparison = measured(bars, TINY, sqlite_url)
    assert {row.contestant for row in comparison.of(bars[0].row)} == {OURS, RAW}
    for store in ("postgres", "mysql", "sqlite"):
        rows = set(measured_on(store)) | {"pick-up, median", "pick-up, 95 of 100", "naps, most memory",
                                          "idle worker, processor", "idle worker, transactions"}  # fmt: skip
        names = {one.name for one in beside(store)} | {None, BEST_PEER}
        assert all(bar.row in rows and bar.other in names for bar in BARS if bar.store == store)
