"""Django projects of their own, run by `python -m django` over a real database."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oxpull_async.drivers.url import parse_url
from tests.compat.django_aliases import entry_of

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """
from tests.compat.django_aliases import install_pymysql

install_pymysql()
SECRET_KEY = "for tests only"
USE_TZ = True
INSTALLED_APPS = {apps!r}
DATABASES = {{"default": {entry!r}}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
"""
APPS = ("django.contrib.auth", "django.contrib.contenttypes", "compat_sync")


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a settings module."""

    folder: Path

    def manage(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a management command to its end."""
        path = os.pathsep.join((str(self.folder), str(ROOT)))
        environment = {**os.environ, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "project_settings"}
        command = (sys.executable, "-W", "error", "-m", "django", *arguments)
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def make_project(folder: Path, url: str, *, apps: Sequence[str] = APPS, more: str = "") -> Project:
    """Write a project whose only database is the one of the URL; `more` is added to its settings."""
    entry = entry_of(parse_url(url))
    folder.joinpath("project_settings.py").write_text(SETTINGS.format(apps=list(apps), entry=entry) + more)
    return Project(folder)
