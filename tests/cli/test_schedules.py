"""`oxpull schedules`: what ticks when, and its changes."""

import asyncio

import pytest

from oxpull_async import Oxpull
from tests.cli.support import document, run


@pytest.fixture
def url(sqlite_url: str) -> str:
    """Name a database with two stored schedules."""

    async def prepare() -> None:
        async with Oxpull(sqlite_url) as ox:
            await ox.migrate()
            task = ox.remote("shop.tasks.report")
            await ox.create_schedule("nightly", task.call(), cron="0 3 * * *", tz="Europe/Paris")
            await ox.create_schedule("often", task.call(), every=300)

    asyncio.run(prepare())
    return sqlite_url


def test_schedules_are_listed_with_what_ticks_next(url: str) -> None:
    result = run("schedules", "--url", url)
    assert result.exit_code == 0
    assert "nightly" in result.stdout
    assert "0 3 * * * (Europe/Paris)" in result.stdout
    found = document("schedules", "--url", url)
    assert [(one["name"], one["when"], one["state"], one["last_tick_at"]) for one in found] == [
        ("nightly", "0 3 * * * (Europe/Paris)", "active", None),
        ("often", "every 300 s", "active", None),
    ]


def test_a_schedule_is_paused_resumed_and_deleted(url: str) -> None:
    assert run("schedules", "pause", "often", "--url", url).stdout == "often paused\n"
    assert "paused" in run("schedules", "--url", url).stdout
    again = run("schedules", "pause", "often", "missing", "--url", url)
    assert (again.exit_code, again.stdout) == (1, "")
    assert "often unchanged" in again.stderr
    assert run("schedules", "resume", "often", "--url", url).exit_code == 0
    assert document("schedules", "delete", "often", "nightly", "--url", url) == {
        "deleted": ["often", "nightly"], "unchanged": [],
    }  # fmt: skip
    assert run("schedules", "--url", url).stdout == "no schedules\n"


def test_a_schedule_is_enqueued_once_now(url: str) -> None:
    found = document("schedules", "run", "often", "--url", url)
    assert (found["schedule"], found["created"]) == ("often", True)
    assert document("show", found["task"], "--url", url)["task_path"] == "shop.tasks.report"
    assert "often enqueued as task" in run("schedules", "run", "often", "--url", url).stdout
    absent = run("schedules", "run", "absent", "--url", url)
    assert (absent.exit_code != 0, "there is no schedule 'absent'" in absent.stderr) == (True, True)
