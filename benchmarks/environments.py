"""A virtual environment for each set of requirements, made on demand and kept in the user's cache."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.contestants import PROGRAMS, Contestant

PATIENCE = 900.0


class NotInstalled(Exception):
    """A contestant's packages could not be installed."""


def cache() -> Path:
    """Name the folder of the environments."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("OXPULL_BENCH_CACHE") or Path(base) / "oxpull-bench")


def python_of(contestant: Contestant) -> Path:
    """Return the interpreter that has what a contestant needs, after installing it if need be.

    Raises: NotInstalled.
    """
    if not contestant.requirements:
        return Path(sys.executable)
    wanted = "\n".join((sys.version, *contestant.requirements))
    name = f"{contestant.program.removeprefix('with_').removesuffix('.py')}-{_digest(wanted)}"
    folder = cache() / name
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *contestant.requirements])
        ready.write_text(wanted, encoding="utf-8")
    return python


def environment(contestant: Contestant) -> dict[str, str]:
    """Return the environment variables of a contestant's processes: ours is imported from this repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PG", "OXPULL_"))}
    return kept if contestant.requirements else kept | {"PYTHONPATH": str(PROGRAMS.parent.parent)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(str(error)) from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise NotInstalled(lines[-1] if lines else f"pip ended with {done.returncode}")
