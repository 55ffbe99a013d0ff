"""Every promise of the page has its tests, and every test of this folder stands for one."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.compat.promises.page import PROMISES

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]
_TEST = re.compile(r"^def (test_\w+)", re.MULTILINE)


def named() -> Iterator[tuple[Path, str]]:
    """List the file and the name of every test that the page names."""
    for promises in PROMISES.values():
        for _, tests in promises:
            for test in tests:
                place, _, name = test.partition("::")
                yield (ROOT / place if "/" in place else HERE / f"test_{place}.py"), name


def test_every_promise_is_held_by_tests_that_exist() -> None:
    missing = [f"{path.name}::{name}" for path, name in named() if f"def {name}(" not in path.read_text()]
    assert missing == []


def test_every_test_here_stands_for_a_promise() -> None:
    written = {
        (path, name)
        for path in HERE.glob("test_*.py")
        if path != Path(__file__)
        for name in _TEST.findall(path.read_text())
    }
    assert sorted(name for _, name in written - set(named())) == []
