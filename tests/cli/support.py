"""Run commands in this process or in one of their own, and wait for what they do."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from oxpull_async import Oxpull
from oxpull_async.cli import oxpull
from oxpull_async.db.contract import Connection
from oxpull_async.db.schema import migrations

PATIENCE = 30.0
TASKS = """
import asyncio, os, time
from pathlib import Path
from oxpull_async import Oxpull

ox = Oxpull(backoff=[0.0])

@ox.task
async def note(path: str, text: str = "x") -> str:
    with Path(path).open("a") as file:
        file.write(f"{text} {os.getpid()}\\n")
    return text

@ox.task
async def rest(path: str, seconds: float) -> None:
    await note(path)
    await asyncio.sleep(seconds)

@ox.task
def hold(path: str, seconds: float) -> None:
    Path(path).touch()
    time.sleep(seconds)

@ox.task(timeout=0.1, max_attempts=1)
def overrun(path: str) -> None:
    Path(path).touch()
    time.sleep(600)

@ox.task(max_attempts=1)
async def fail() -> None:
    raise ValueError("no luck")
"""

STEPS = [step.name for step in migrations("sqlite", "")]
"""The names of the migrations, in order."""


def run(*arguments: str) -> Result:
    """Run a command in this process; nothing but a plain exit may end it."""
    result = CliRunner().invoke(oxpull, arguments, prog_name="oxpull")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def document(*arguments: str) -> Any:
    """Run a command with --json and read the one document it prints."""
    result = run(*arguments, "--json")
    assert result.exit_code in {0, 1}, result.output
    return json.loads(result.stdout)


def ask[T](url: str, question: Callable[[Oxpull], Awaitable[T]]) -> T:
    """Do something with the database behind a command's back."""

    async def main() -> T:
        async with Oxpull(url) as ox:
            return await question(ox)

    return asyncio.run(main())


def store[T](url: str, work: Callable[[Connection], Awaitable[T]]) -> T:
    """Do something with a connection."""
    return ask(url, lambda ox: ox.operate(work))


def until[T](condition: Callable[[], T], what: str) -> T:
    """Wait until a condition holds, and return what it gave."""
    ends = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < ends, f"waited {PATIENCE:.0f} s for {what}"
        time.sleep(0.02)
    return found


@dataclass(frozen=True, slots=True)
class Program:
    """A started command with what it has written so far."""

    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def errors(self) -> str:
        """What it wrote to stderr."""
        return (self.folder / "stderr").read_text()

    @property
    def output(self) -> str:
        """What it wrote to stdout."""
        return (self.folder / "stdout").read_text()

    def says(self, text: str, times: int = 1) -> None:
        """Wait until it has written a text so many times to stderr."""
        until(lambda: self.errors.count(text) >= times or self.ended(), f"{text!r} in {self.errors}")
        assert self.errors.count(text) >= times, self.errors

    def ended(self) -> bool:
        """Tell whether it has exited."""
        return self.process.poll() is not None

    def code(self) -> int:
        """Wait for its end and return its exit code."""
        until(self.ended, f"the end of {self.process.args!r}: {self.errors}")
        return self.process.returncode


@contextmanager
def program(folder: Path, url: str, *arguments: str) -> Iterator[Program]:
    """Start `python -m oxpull_async` in a folder; what is still there at the end of the block is killed."""
    (folder / "shop.py").write_text(TASKS)
    place = folder / f"program{len(list(folder.glob('program*')))}"
    place.mkdir()
    with (place / "stdout").open("wb") as output, (place / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "oxpull_async", *arguments],
            cwd=folder, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env=environment(url),
        )  # fmt: skip
        try:
            yield Program(process, place)
        finally:
            process.kill()
            process.wait()


def environment(url: str) -> dict[str, str]:
    """Name the database as an operator does."""
    return {**os.environ, "OXPULL_DATABASE_URL": url, "COLUMNS": "200"}


def enqueue(url: str, path: str, *arguments: Any, count: int = 1, **options: Any) -> list[str]:
    """Store calls of a task by its path."""

    async def call(ox: Oxpull) -> list[str]:
        task = ox.remote(path, **options)
        return [result.id for result in await ox.enqueue_many([task.call(*arguments)] * count)]

    return ask(url, call)


def statuses(url: str, ids: list[str]) -> set[str]:
    """Return the statuses that tasks have."""

    async def read(ox: Oxpull) -> set[str]:
        return {(await ox.read(id_)).status.value for id_ in ids}

    return ask(url, read)
