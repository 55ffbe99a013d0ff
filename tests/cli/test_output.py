"""What is printed: aligned text in a pipe, tables and a live line on a terminal, no secrets anywhere."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from oxpull_async.cli.output import Column, cell, masked, print_table
from tests.cli.support import TASKS, enqueue, environment, run

COLUMNS = (Column("name"), Column("count", is_number=True), Column("note"))


@pytest.fixture
def url(sqlite_url: str) -> str:
    """Name a migrated database."""
    assert run("migrate", "--url", sqlite_url).exit_code == 0
    return sqlite_url


def on_terminal(folder: Path, url: str, *arguments: str, width: int = 200) -> str:
    """Run a command on a terminal of its own, `width` characters wide, and return what it shows."""
    (folder / "shop.py").write_text(TASKS)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "oxpull_async", *arguments]
    env = {**environment(url), "TERM": "xterm", "COLUMNS": str(width)}
    with subprocess.Popen(command, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while chunk := read(ours):
            shown += chunk
    os.close(ours)
    assert process.returncode == 0, shown
    return shown.decode()


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed
        return b""


def test_in_a_pipe_columns_are_aligned_and_figures_stand_right(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(COLUMNS, [("a", 1, None), ("long", 1000, "x")])
    assert capsys.readouterr().out == "name  count  note\na         1\nlong   1000  x\n"


def test_a_cell_is_one_line_without_control_characters() -> None:
    assert cell("a\nb\x1b[0m\tc") == "a b\\x1b[0m c"


def test_passwords_of_urls_inside_a_text_are_masked() -> None:
    assert masked("no postgresql://me:secret@host/x, no mysql://a:b@c") == (
        "no postgresql://me:***@host/x, no mysql://a:***@c"
    )


def test_on_a_terminal_there_is_a_table(url: str, tmp_path: Path) -> None:
    enqueue(url, "shop.note", "x")
    shown = on_terminal(tmp_path, url, "status")
    assert "┃" in shown
    assert "default" in shown


def test_on_a_narrow_terminal_no_word_is_cut(url: str, tmp_path: Path) -> None:
    [id_] = enqueue(url, "shop.note", "x")
    shown = on_terminal(tmp_path, url, "tasks", width=80)
    assert "┃" not in shown
    assert id_ in shown
    assert "priority  attempts  enqueued" in shown


def test_on_a_terminal_a_worker_shows_one_live_line(url: str, tmp_path: Path) -> None:
    enqueue(url, "shop.note", str(tmp_path / "notes"), count=3)
    shown = on_terminal(tmp_path, url, "worker", "shop:ox", "--burst")
    assert "running" in shown
    assert "failed attempts" in shown
    assert "\x1b[2K" in shown
