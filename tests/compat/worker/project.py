"""The commands of a Django project in processes of their own, on the database of a test."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.support import Program
from tests.fixtures.processes import ROOT

SETTINGS = "tests.compat.worker.settings"


@contextmanager
def manage(folder: Path, url: str, *arguments: str, program: tuple[str, ...] = (), **site: Any) -> Iterator[Program]:
    """Start a command of Django's (or another program), and kill what is still there at the end of the block.

    `site` is what the settings read: DEBUG, ENTRY (of DATABASES) and OPTIONS (of TASKS).
    """
    place = folder / f"program{len(list(folder.glob('program*')))}"
    place.mkdir()
    command = program or (sys.executable, "-m", "django")
    with (place / "stdout").open("wb") as output, (place / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [*command, *arguments], cwd=ROOT, env=_environment(folder, url, site),
            stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
        )  # fmt: skip
        try:
            yield Program(process, place)
        finally:
            process.kill()
            process.wait()


def _environment(folder: Path, url: str, site: dict[str, Any]) -> dict[str, str]:
    own = {
        "DJANGO_SETTINGS_MODULE": SETTINGS,
        "SITE_DATABASE": url,
        "OXPULL_DATABASE_URL": url,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
        "COLUMNS": "300",
    }
    return os.environ | own | {f"SITE_{name}": json.dumps(value) for name, value in site.items()}
