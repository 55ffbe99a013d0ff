"""The supervisor with plain programs for children: pauses, giving up, killing."""

import asyncio
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.runtime import supervisor
from oxpull_async.runtime.supervisor import Charge, Patience, Report, Supervisor

IGNORES_SIGTERM = (
    "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); sys.stdin.read()"
)


async def supervise(program: str, *, processes: int = 1, stop_seconds: float = 30.0) -> Report:
    return await Supervisor(Charge([sys.executable, "-c", program], processes, stop_seconds)).run()


@given(st.lists(st.floats(0, 1000), max_size=30))
def test_pauses_stay_between_the_shortest_and_the_longest(lives: list[float]) -> None:
    patience = Patience()
    pauses = [patience.after_failure(lived) for lived in lives]
    assert all(supervisor.FIRST_PAUSE <= pause <= supervisor.LONGEST_PAUSE for pause in pauses)


def test_pauses_double_up_to_the_longest() -> None:
    patience = Patience()
    assert [patience.after_failure(10) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_a_child_that_lived_for_a_minute_starts_the_pauses_anew() -> None:
    patience = Patience()
    assert [patience.after_failure(lived) for lived in (10, 10, 60, 10)] == [0.5, 1, 0.5, 1]


def test_patience_is_over_after_five_failures_at_once() -> None:
    patience = Patience()
    for _ in range(4):
        patience.after_failure(0.1)
    assert not patience.is_over
    patience.after_failure(0.1)
    assert patience.is_over


def test_a_longer_life_between_gives_new_patience() -> None:
    patience = Patience()
    for lived in (0.1, 0.1, 0.1, 0.1, 2.0, 0.1):
        patience.after_failure(lived)
    assert not patience.is_over


def test_children_that_end_with_0_are_not_replaced() -> None:
    assert asyncio.run(supervise("", processes=3)) == Report(0, 0, None)


def test_a_child_that_fails_without_end_makes_it_give_up_and_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE", 0.0)
    monkeypatch.setattr(supervisor, "AT_ONCE", 30.0)
    report = asyncio.run(supervise("import sys; sys.exit(3)", processes=2))
    assert report.gave_up is not None
    assert not report.is_success
    assert "failed with exit code 3" in caplog.text


def test_a_program_that_cannot_be_started_makes_it_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE", 0.0)
    report = asyncio.run(Supervisor(Charge(["/does/not/exist"], 1, 1.0)).run())
    assert report.gave_up is not None


def test_a_child_that_does_not_stop_is_killed_and_that_is_no_success(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="oxpull_async.supervisor")
    report = asyncio.run(stopped_when_ready(IGNORES_SIGTERM, stop_seconds=0.2))
    assert report == Report(0, 1, None)
    assert not report.is_success
    assert "did not stop within" in caplog.text


def test_a_stop_before_the_start_starts_nothing() -> None:
    async def main() -> Report:
        boss = Supervisor(Charge([sys.executable, "-c", "import time; time.sleep(600)"], 2, 1.0))
        boss.stop()
        return await boss.run()

    assert asyncio.run(main()) == Report(0, 0, None)


def test_a_stop_during_the_pause_ends_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE", 600.0)
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE", 600.0)

    async def main() -> Report:
        boss = Supervisor(Charge([sys.executable, "-c", "import sys; sys.exit(1)"], 1, 1.0))
        with logged("starting another process") as resting:
            running = asyncio.create_task(boss.run())
            async with asyncio.timeout(20):
                await resting.wait()
                boss.stop()
                return await running

    caplog.set_level(logging.INFO, logger="oxpull_async.supervisor")
    assert asyncio.run(main()).gave_up is None


async def stopped_when_ready(program: str, *, stop_seconds: float) -> Report:
    """Stop a supervisor when its child says by a line that it is ready."""
    reading, writing = os.pipe()
    try:
        boss = Supervisor(Charge([sys.executable, "-c", program], 1, stop_seconds, output=writing))
        running = asyncio.create_task(boss.run())
        async with asyncio.timeout(20):
            await asyncio.to_thread(os.read, reading, 1)
            boss.stop()
            return await running
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def logged(text: str) -> Iterator[asyncio.Event]:
    """Give an event that is set when the supervisor logs a text."""
    seen = asyncio.Event()

    def look(record: logging.LogRecord) -> bool:
        if text in record.getMessage():
            seen.set()
        return True

    supervisor.logger.addFilter(look)
    try:
        yield seen
    finally:
        supervisor.logger.removeFilter(look)
