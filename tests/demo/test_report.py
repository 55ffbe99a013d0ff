from dataclasses import replace

import pytest
from rich.console import Console

from oxpull_async.demo.modules import ModuleFacts, Totals, add_up
from oxpull_async.demo.report import Report, print_report

TOTALS = add_up([ModuleFacts("m", lines=1200, functions=3, classes=2, imports=1)])


def report(counted: Totals = TOTALS, failures: tuple[str, ...] = ()) -> Report:
    return Report("root", TOTALS, counted, seconds=2.0, tasks=10, failures=list(failures), killed=None)


def printed(of: Report) -> str:
    console = Console(width=100)
    with console.capture() as capture:
        print_report(console, of)
    return capture.get()


def test_equal_totals_are_called_exact() -> None:
    assert report().is_exact
    assert "  exact:" in printed(report())
    assert "10 tasks in 2.0 seconds: 5 tasks/s" in printed(report())


def test_a_difference_is_shown_and_not_exact() -> None:
    different = report(replace(TOTALS, lines=1190))
    assert not different.is_exact
    assert "NOT exact" in printed(different)
    assert "+10" in printed(different)


@pytest.mark.parametrize("counted", [replace(TOTALS, largest=[]), replace(TOTALS, files=2)])
def test_every_part_of_the_totals_must_be_equal(counted: Totals) -> None:
    assert not report(counted).is_exact


def test_a_failed_task_is_named_and_not_exact() -> None:
    failed = report(failures=("task 1 is LOST",))
    assert not failed.is_exact
    assert "task 1 is LOST" in printed(failed)
