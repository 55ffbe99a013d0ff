"""`oxpull worker` in a process of its own: burst, stops, limits and exit codes."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.support import enqueue, program, run, statuses, until
from tests.fixtures.servers import MakeDatabase


@pytest.fixture
def url(sqlite_url: str) -> str:
    """Name a migrated database."""
    assert run("migrate", "--url", sqlite_url).exit_code == 0
    return sqlite_url


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "mysql"])
def test_a_burst_runs_what_is_there_and_ends_with_0(make_database: MakeDatabase, tmp_path: Path, kind: str) -> None:
    url = make_database("sqlite" if kind == "sqlite" else "postgres" if kind == "postgres" else "mysql")
    run("migrate", "--url", url)
    ids = enqueue(url, "shop.note", str(tmp_path / "notes"), count=20)
    with program(tmp_path, url, "worker", "shop:ox", "--burst") as worker:
        assert worker.code() == 0, worker.errors
    assert statuses(url, ids) == {"SUCCESSFUL"}
    assert len((tmp_path / "notes").read_text().splitlines()) == 20


def test_a_burst_with_json_prints_one_document(url: str, tmp_path: Path) -> None:
    enqueue(url, "shop.note", str(tmp_path / "notes"), count=3)
    with program(tmp_path, url, "worker", "shop", "--burst", "--json", "--log-level", "warning") as worker:
        assert worker.code() == 0
    assert json.loads(worker.output) == {"done": 3, "remaining": 0, "recycled": None}
    assert worker.errors == ""


def test_a_failed_task_is_one_line_and_no_failure_of_the_worker(url: str, tmp_path: Path) -> None:
    [id_] = enqueue(url, "shop.fail", max_attempts=1)
    with program(tmp_path, url, "worker", "shop:ox", "--burst") as worker:
        assert worker.code() == 0
    assert f"shop.fail {id_} (attempt 1) failed, no attempt is left: ValueError: no luck" in worker.errors
    assert "Traceback" not in worker.errors


def test_only_the_named_queues_are_served(url: str, tmp_path: Path) -> None:
    path = str(tmp_path / "notes")
    [a], [b] = enqueue(url, "shop.note", path, queue_name="a"), enqueue(url, "shop.note", path, queue_name="b")
    with program(tmp_path, url, "worker", "shop:ox", "--burst", "--queues", "a,c") as worker:
        assert worker.code() == 0
    assert (statuses(url, [a]), statuses(url, [b])) == ({"SUCCESSFUL"}, {"READY"})


def test_sigterm_waits_for_running_tasks_and_claims_no_more(url: str, tmp_path: Path) -> None:
    running = enqueue(url, "shop.rest", str(tmp_path / "running"), 1.0)
    with program(tmp_path, url, "worker", "shop:ox") as worker:
        until((tmp_path / "running").exists, "the task")
        worker.process.send_signal(signal.SIGTERM)
        later = enqueue(url, "shop.note", str(tmp_path / "later"))
        assert worker.code() == 0, worker.errors
    assert (statuses(url, running), statuses(url, later)) == ({"SUCCESSFUL"}, {"READY"})


@pytest.mark.parametrize("name", ["rest", "hold"])
def test_a_second_signal_hands_back_at_once(url: str, tmp_path: Path, name: str) -> None:
    ids = enqueue(url, f"shop.{name}", str(tmp_path / "running"), 600.0)
    with program(tmp_path, url, "worker", "shop:ox") as worker:
        until((tmp_path / "running").exists, "the task")
        worker.process.send_signal(signal.SIGINT)
        worker.process.send_signal(signal.SIGTERM)
        assert worker.code() == 0, worker.errors
    assert statuses(url, ids) == {"READY"}


def test_the_drain_timeout_ends_the_wait(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.rest", str(tmp_path / "running"), 600.0)
    with program(tmp_path, url, "worker", "shop:ox", "--drain-timeout", "0.2s") as worker:
        until((tmp_path / "running").exists, "the task")
        worker.process.send_signal(signal.SIGTERM)
        assert worker.code() == 0, worker.errors
    assert statuses(url, ids) == {"READY"}


def test_a_function_that_outlasts_its_timeout_ends_the_worker_with_75(url: str, tmp_path: Path) -> None:
    ids = enqueue(url, "shop.overrun", str(tmp_path / "running"), timeout=0.1, max_attempts=1)
    with program(tmp_path, url, "worker", "shop:ox", "--drain-timeout", "0.1") as worker:
        assert worker.code() == 75, worker.errors
    assert "shop.overrun did not stop after the timeout" in worker.errors
    assert statuses(url, ids) == {"FAILED"}


def test_max_tasks_ends_a_lone_worker_with_0(url: str, tmp_path: Path) -> None:
    enqueue(url, "shop.note", str(tmp_path / "notes"), count=5)
    with program(tmp_path, url, "worker", "shop:ox", "--max-tasks", "2", "--json") as worker:
        assert worker.code() == 0, worker.errors
    assert json.loads(worker.output) == {"done": 2, "remaining": 3, "recycled": None}


def test_a_worker_above_its_memory_ends_with_75(url: str, tmp_path: Path) -> None:
    (tmp_path / "hungry.py").write_text(
        "from shop import ox\neaten = bytearray()\n@ox.task\nasync def eat() -> None:\n"
        "    eaten.extend(b'x' * (300 << 20))\n"
    )
    enqueue(url, "hungry.eat")
    with program(tmp_path, url, "worker", "shop:ox", "--import", "hungry", "--max-rss", "256M", "--json") as worker:
        assert worker.code() == 75, worker.errors
    assert "max_rss" in json.loads(worker.output)["recycled"]


def test_less_memory_than_the_start_takes_is_refused(url: str, tmp_path: Path) -> None:
    with program(tmp_path, url, "worker", "shop:ox", "--max-rss", "5M") as worker:
        assert worker.code() == 1
    assert "--max-rss is less than" in worker.errors


def test_an_unmigrated_database_ends_the_worker_with_one_sentence(sqlite_url: str, tmp_path: Path) -> None:
    for extra in ((), ("--processes", "2")):
        with program(tmp_path, sqlite_url, "worker", "shop:ox", *extra) as worker:
            assert worker.code() == 1
        assert worker.errors.count("\n") == 1
        assert "run `oxpull migrate`" in worker.errors


def test_a_module_that_is_not_there_ends_the_worker_with_one_sentence(url: str, tmp_path: Path) -> None:
    with program(tmp_path, url, "worker", "nowhere:ox") as worker:
        assert worker.code() == 1
    assert worker.errors.startswith("Error: there is no module 'nowhere'")


def test_import_lets_tasks_of_another_package_run(url: str, tmp_path: Path) -> None:
    (tmp_path / "garden.py").write_text("from shop import ox\n@ox.task\nasync def water() -> str:\n    return 'wet'\n")
    foreign = enqueue(url, "garden.water")
    with program(tmp_path, url, "worker", "shop:ox", "--burst") as worker:
        assert worker.code() == 0
    assert statuses(url, foreign) == {"READY"}
    with program(tmp_path, url, "worker", "shop:ox", "--burst", "--import", "garden") as worker:
        assert worker.code() == 0
    assert statuses(url, foreign) == {"SUCCESSFUL"}
