"""`manage.py check` and `migrate` in a project of their own: ids, exit codes, and no crash before a message."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = """
    SECRET_KEY = "for tests only"
    USE_TZ = True
    INSTALLED_APPS = ["compat_sync", "shop"]
    DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.db"}}
    TASKS = {
        "default": {
            "BACKEND": "compat_sync.backend.OxpullBackend",
            "QUEUES": ["default"],
            "OPTIONS": {"UNIQUE_TASKS": ["shop.tasks.send_invoice"]},
        }
    }
"""
TASKS = """
    from django.tasks import task

    @task
    def send_invoice(order_id: int) -> None: ...
"""
type Django = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a small Django project."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "tasks.py").write_text(dedent(TASKS))
    (tmp_path / "shop" / "models.py").write_text("import django.tasks\n")
    (tmp_path / "settings.py").write_text(dedent(SETTINGS))
    return tmp_path


@pytest.fixture
def django(project: Path) -> Django:
    """Run a management command there."""
    environment = os.environ | {"PYTHONPATH": f"{project}{os.pathsep}{ROOT}", "DJANGO_SETTINGS_MODULE": "settings"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "django", *command],
            cwd=project, env=environment, capture_output=True, text=True, timeout=50, check=False,
        )  # fmt: skip

    return run


def add(project: Path, line: str) -> None:
    with (project / "settings.py").open("a") as settings:
        settings.write(f"{line}\n")


def ids(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"\(compat_sync\.(\w+)\)", done.stderr)


def test_a_right_project_passes_before_and_after_its_migrations(django: Django) -> None:
    done = django("check", "--fail-level", "INFO")
    assert (done.returncode, ids(done)) == (0, []), done.stderr
    done = django("check", "--database", "default")
    assert (done.returncode, ids(done)) == (0, ["W204"]), done.stderr
    done = django("migrate", "--verbosity", "0")
    assert (done.returncode, ids(done)) == (0, []), done.stderr
    done = django("check", "--database", "default", "--fail-level", "INFO")
    assert (done.returncode, ids(done)) == (0, []), done.stderr


def test_a_wrong_project_fails_with_each_message_once(project: Path, django: Django) -> None:
    add(project, "TASKS['default']['OPTIONS'] |= {'MAX_ATTEMPTS': 'x', 'QUEUES': ['mail'], 'WORKFLOWS': True}")
    add(project, "TASKS['default']['OPTIONS']['UNIQUE_TASKS'] += ['shop.tasks.absent']")
    add(project, "USE_TZ = False")
    done = django("check")
    assert done.returncode == 1
    assert sorted(ids(done)) == ["E002", "E111", "E203", "E210", "I201"], done.stderr
    assert "Traceback" not in done.stderr


def test_a_project_without_the_app_is_told_so(project: Path, django: Django) -> None:
    add(project, "INSTALLED_APPS = ['shop']; TASKS['default']['OPTIONS'] = {}")
    done = django("check")
    assert (done.returncode, ids(done)) == (1, ["E001"]), done.stderr
    assert "Traceback" not in done.stderr


def test_a_silenced_id_is_silent(project: Path, django: Django) -> None:
    add(project, "TASKS['default']['OPTIONS']['WORKFLOWS'] = True")
    add(project, "SILENCED_SYSTEM_CHECKS = ['compat_sync.I201']")
    done = django("check", "--fail-level", "INFO")
    assert (done.returncode, ids(done)) == (0, []), done.stderr
