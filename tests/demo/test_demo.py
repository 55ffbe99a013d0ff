"""The command, run as users run it: a process that starts workers and a server of its own."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store.results import TaskFilter
from tests.fixtures.servers import MakeDatabase

DEMO = (sys.executable, "-m", "oxpull_async.demo")
FILES, LIMIT_SECONDS = 30, 50
NO_EXTRAS = """
import sys
sys.modules["starlette"] = None
from oxpull_async.demo.run import demo_command
demo_command([])
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Make a folder of thirty files; the last of them is broken."""
    folder = tmp_path / "sources"
    (folder / "package").mkdir(parents=True)
    for n in range(FILES - 1):
        name = f"package/m{n:02}.py" if n % 2 else f"m{n:02}.py"
        (folder / name).write_text("import os\n" + f"def f{n}(): ...\n" * n + "class A: ...\n")
    (folder / "z.py").write_text("def (:\n")
    return folder


def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(tmp_path / "tmp"), "COLUMNS": "100"}


def play(tmp_path: Path, *options: str, command: Sequence[str] = DEMO) -> subprocess.CompletedProcess[str]:
    (tmp_path / "tmp").mkdir(exist_ok=True)
    return subprocess.run(
        [*command, *options], env=environment(tmp_path), capture_output=True, text=True, timeout=LIMIT_SECONDS,
        check=False,
    )  # fmt: skip


def played_json(tmp_path: Path, *options: str) -> dict[str, Any]:
    done = play(tmp_path, "--json", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def check_killed(told: dict[str, Any]) -> None:
    """Check that a worker died with tasks in its hands, and that it does not show in the totals."""
    assert told["exact"]
    assert told["totals"]["files"] == FILES
    assert told["totals"]["imports"] == FILES - 1
    assert told["killed"]["held"] > 0
    assert told["killed"]["taken_over"] == told["killed"]["held"]


async def rows(url: str) -> list[tuple[str, TaskStatus]]:
    async with Oxpull(url) as ox:
        return [(one.id, one.status) for one in await ox.list_results(TaskFilter())]


async def aliases(url: str) -> set[str]:
    """Read which aliases have tasks or workers, in a way that every driver knows."""
    async with Oxpull(url) as ox, ox.transaction() as tx:
        found = await tx.fetch(
            "SELECT backend_alias FROM oxpull_task UNION SELECT backend_alias FROM oxpull_worker ORDER BY 1"
        )
        return {row[0] for row in found}


async def users_task(url: str) -> str:
    """Store a task of somebody who uses the database already."""
    async with Oxpull(url) as ox:
        await ox.migrate()
        return (await ox.remote("shop.tasks.send", queue_name="demo").enqueue()).id


async def check_on_a_users_database(tmp_path: Path, sources: Path, url: str) -> None:
    users = await users_task(url)
    check_killed(played_json(tmp_path, "--url", url, "--path", str(sources), "--kill", "--pace", "0.4"))
    assert await rows(url) == [(users, TaskStatus.READY)]
    assert await aliases(url) == {"default"}


def test_the_demo_ends_with_the_table_and_the_totals(tmp_path: Path, sources: Path) -> None:
    done = play(tmp_path, "--path", str(sources))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The ten largest modules" in done.stdout
    assert re.search(r"m28 +30 +28 +1 +1", done.stdout)
    assert re.search(r"files +30 +30 +equal", done.stdout)
    assert re.search(r"unreadable +1 +1 +equal", done.stdout)
    assert re.search(r"lines +464 +464 +equal", done.stdout)
    assert "31 tasks in" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].startswith("  exact:")


def test_the_demo_leaves_no_file_behind(tmp_path: Path, sources: Path) -> None:
    assert play(tmp_path, "--path", str(sources), "--limit", "3").returncode == 0
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_totals_are_exact_when_a_worker_is_killed(tmp_path: Path, sources: Path) -> None:
    done = play(tmp_path, "--path", str(sources), "--kill", "--pace", "0.4")
    assert done.returncode == 0, done.stdout + done.stderr
    killed = re.search(r"kill -9 +worker [12] \(pid \d+\) after (\d+) of 30 files; it held (\d+) tasks", done.stdout)
    assert killed is not None, done.stdout
    assert int(killed[1]) >= FILES // 2
    assert int(killed[2]) > 0
    assert f"{killed[2]} of the {killed[2]} tasks that died with it were run by another worker" in done.stdout
    assert "  exact:" in done.stdout


@pytest.mark.asyncio
async def test_the_demo_touches_nothing_else_on_sqlite(tmp_path: Path, sources: Path, sqlite_url: str) -> None:
    await check_on_a_users_database(tmp_path, sources, sqlite_url)


@pytest.mark.asyncio
async def test_the_demo_touches_nothing_else_on_postgresql(
    tmp_path: Path, sources: Path, make_database: MakeDatabase
) -> None:
    await check_on_a_users_database(tmp_path, sources, make_database("postgres"))


@pytest.mark.asyncio
async def test_the_demo_touches_nothing_else_on_mariadb(
    tmp_path: Path, sources: Path, make_database: MakeDatabase
) -> None:
    await check_on_a_users_database(tmp_path, sources, make_database("mysql"))


def test_a_demo_that_is_stopped_leaves_neither_rows_nor_workers(tmp_path: Path, sources: Path, sqlite_url: str) -> None:
    (tmp_path / "tmp").mkdir()
    command = [*DEMO, "--url", sqlite_url, "--path", str(sources), "--pace", "1"]
    with subprocess.Popen(command, env=environment(tmp_path), stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        told = "".join(takewhile(lambda line: "POST /index" not in line, demo.stdout))
        demo.send_signal(signal.SIGTERM)
        rest = demo.stdout.read()
    pids = [int(pid) for pid in re.findall(r"\d+", told.partition("(pid")[2])]
    assert demo.returncode == 130
    assert "stopped" in rest
    assert len(pids) == 2
    assert [pid for pid in pids if is_alive(pid)] == []
    assert asyncio.run(aliases(sqlite_url)) == set()


def test_a_port_that_is_taken_is_named(tmp_path: Path, sources: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = play(tmp_path, "--path", str(sources), "--port", port)
    assert done.returncode == 1
    assert f"Error: Port {port} of 127.0.0.1 is taken" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_does_not_answer_is_named(tmp_path: Path, sources: Path) -> None:
    url = "postgresql://me:secret@127.0.0.1:1/shop"
    done = play(tmp_path, "--path", str(sources), "--url", url)
    assert done.returncode == 1
    assert "cannot connect to PostgreSQL at 127.0.0.1, port 1" in done.stderr
    assert "secret" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    done = play(tmp_path, command=(sys.executable, "-c", NO_EXTRAS))
    assert done.returncode == 1
    assert done.stderr == "Error: The demo needs starlette: pip install 'oxpull-async[demo]'\n"


def test_a_folder_without_sources_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = play(tmp_path, "--path", str(tmp_path / "empty"))
    assert done.returncode == 1
    assert f"no Python source file below {tmp_path / 'empty'}" in done.stderr


def test_killing_the_only_worker_is_refused(tmp_path: Path) -> None:
    done = play(tmp_path, "--kill", "--workers", "1")
    assert done.returncode == 2
    assert "--kill needs --workers 2" in done.stderr
