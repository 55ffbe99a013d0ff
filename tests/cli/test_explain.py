"""`oxpull explain`: why a task does not run, for people and as JSON; the answer is no failure."""

from typing import TYPE_CHECKING, cast

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId
from tests.cli.support import document, run, store
from tests.drivers.locks_kit import locked, stored, take
from tests.fixtures import make, raw
from tests.fixtures.servers import MakeDatabase

if TYPE_CHECKING:
    from tests.servers import Kind

MISSING = "01a227dd-088b-70c1-9dae-edcf96f9f75d"
_urls: dict[str, str] = {}


@pytest.fixture(params=["postgres", "mysql", "sqlite"])
def url(request: pytest.FixtureRequest, make_database: MakeDatabase) -> str:
    """Name a migrated database of each kind without tasks and workers."""
    kind = cast("Kind", request.param)
    if kind not in _urls:
        _urls[kind] = make_database(kind)
        assert run("migrate", "--url", _urls[kind]).exit_code == 0
    store(_urls[kind], raw.empty)
    return _urls[kind]


async def blocked_by_lock(conn: Connection) -> tuple[TaskId, TaskId]:
    """Store a task that runs and one that its running lock keeps from running."""
    holder, waiter = await stored(conn, locked(), locked())
    assert len(await take(conn, await make.worker(conn))) == 1
    return holder, waiter


def test_a_task_that_may_be_claimed_is_said_to_be(url: str) -> None:
    record = store(url, make.ready)
    store(url, make.worker)
    result = run("explain", record.id, "--url", url)
    assert (result.exit_code, result.stdout) == (0, "nothing holds it back: a worker may claim it now\n")
    assert document("explain", record.id, "--url", url) == {"id": record.id, "runnable": True, "reasons": []}


def test_every_reason_is_a_line_and_the_exit_code_is_0(url: str) -> None:
    record = store(url, make.ready)
    assert run("pause", make.QUEUE, "--url", url).exit_code == 0
    result = run("explain", record.id, "--url", url)
    assert (result.exit_code, result.stdout.splitlines()) == (
        0, ["queue 'default' is paused; `oxpull resume default` lets it run", "no worker serves queue 'default'"],
    )  # fmt: skip


def test_as_json_a_reason_has_its_parts(url: str) -> None:
    holder, waiter = store(url, blocked_by_lock)
    found = document("explain", waiter, "--url", url)
    [reason] = found["reasons"]
    assert (found["runnable"], reason["kind"], reason["task_id"], reason["attempt"]) == (False, "lock", holder, 1)
    assert reason["since"].endswith("+00:00")
    assert (reason["lock_key"], reason["until"]) == ("k", None)
    assert reason["text"] in run("explain", waiter, "--url", url).stdout


@pytest.mark.parametrize("id_", ["nonsense", MISSING])
def test_a_missing_task_is_an_error(url: str, id_: str) -> None:
    result = run("explain", id_, "--url", url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert id_ in result.stderr


def test_stored_text_cannot_steer_the_terminal(url: str) -> None:
    record = store(url, lambda conn: make.ready(conn, queue_name="q\x1b[31m"))
    assert "\x1b" not in run("explain", record.id, "--url", url).stdout
