"""`oxpull_move` brings stored schedules over, and lets those of the settings go on where they were."""

from datetime import UTC, datetime

import pytest
from django.test import override_settings

from compat_sync.models import OxpullSchedule
from tests.compat.conftest import Kind
from tests.compat.move.project import NEW_TASKS, OldProject, oxpull_move

SCHEDULES = OxpullSchedule.objects


def test_stored_schedules_come_over_and_go_on_after_their_last_ticks(old: OldProject) -> None:
    old.run("store_schedules")
    assert oxpull_move() == "Moved 0 tasks, 0 with a unique key.\nMoved 3 schedules.\n"
    assert old.schedules() == []
    hourly, often, off = (SCHEDULES.get(name=name) for name in ("hourly", "often", "off"))
    assert (hourly.cron, hourly.kwargs, hourly.tz, hourly.paused) == (
        "0 * * * *",
        {"order_id": 50},
        "Europe/Vienna",
        False,
    )
    assert hourly.task_path == "tests.compat.move.shop.send_invoice"
    assert (often.every, often.max_age, often.starts_at) == (600, 60, datetime(2030, 1, 1, 0, 20, tzinfo=UTC))
    assert often.next_at == datetime(2030, 1, 1, 0, 30, tzinfo=UTC)
    assert (off.paused, off.next_at) == (True, None)


def test_a_schedule_of_the_settings_goes_on_after_its_last_tick(old: OldProject) -> None:
    last = old.run("tick_of_settings")
    assert "Moved 1 schedule.\n" in oxpull_move()
    row = SCHEDULES.get(name="nightly")
    assert (row.declared, row.starts_at) == (True, datetime.fromisoformat(last))
    assert oxpull_move() == "Moved 0 tasks, 0 with a unique key.\n"


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_schedule_that_cannot_be_stored_stays_and_is_named(old: OldProject, kind: Kind) -> None:
    old.run("store_schedules")
    bare = {"default": {**NEW_TASKS["default"], "OPTIONS": {}}}
    with override_settings(TASKS=bare):
        printed = oxpull_move()
    assert "Left 3 schedules: no task is schedulable here as 'invoice': register it" in printed
    assert "  often\n" in printed
    assert old.schedules() == ["hourly", "off", "often"]
    assert not SCHEDULES.exists()
    assert "Would move 3 schedules." in oxpull_move("--dry-run")
    assert not SCHEDULES.exists()
    assert old.schedules() == ["hourly", "off", "often"]
    assert "Moved 3 schedules." in oxpull_move()
