"""Every Python example in README and docs runs as printed, in an empty folder, on SQLite."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.examples import ROOT, Example, examples

EXAMPLES = list(examples())


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{example.page}#{example.number}" for example in EXAMPLES])
def test_an_example_runs_as_printed(example: Example, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(example.code, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OXPULL_DATABASE_URL": "sqlite:///example.db"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_readme_prints_an_example() -> None:
    assert any(example.page == "README.md" for example in EXAMPLES)
