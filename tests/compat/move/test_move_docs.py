"""docs/coming-from-oxpull.md holds: its walk-through runs as printed, and the names that it gives exist."""

import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from compat_sync.options.keys import IDLE_KEYS
from tests.compat.django_aliases import configure
from tests.compat.move.pages import PAGE, Command, File, our_names, steps
from tests.compat.projects import ROOT

MANAGE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
"""


def run(line: str, folder: Path) -> str:
    """Run a command of the page; returns what it prints."""
    program, *arguments = shlex.split(line)
    assert program == "python"
    done = subprocess.run(
        (sys.executable, *arguments),
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout.strip("\n")


@pytest.mark.timeout(240)
def test_the_walk_through_runs_as_printed(tmp_path: Path) -> None:
    tmp_path.joinpath("manage.py").write_text(MANAGE)
    tmp_path.joinpath("shop").mkdir()
    commands = 0
    for step in steps():
        match step:
            case File(name, text):
                tmp_path.joinpath(name).write_text(text)
            case Command(line, output):
                commands += 1
                assert sorted(run(line, tmp_path).splitlines()) == sorted(output.splitlines()), line
    assert commands > 8


def test_every_name_of_ours_that_the_page_gives_exists() -> None:
    configure()
    assert [name for name in our_names() if not exists(name)] == []


def exists(name: str) -> bool:
    """Tell whether a dotted name is a module or something in one."""
    try:
        return bool(import_module(name))
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return hasattr(import_module(module), attribute)


def test_the_page_names_every_setting_of_django_ox_without_a_counterpart() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [key for key in IDLE_KEYS if key not in page and "RECONCILE" not in key] == []
