"""A Django project with tests of its own, for Django's test runner and for pytest."""

import os
import subprocess
import sys
from pathlib import Path

from tests.compat.projects import APPS, ROOT, Project, make_project

PLUGIN = "compat_sync.pytest_plugin"
SETTINGS = """
TASKS = {"default": {"BACKEND": "compat_sync.backend.OxpullBackend"}}
USE_TZ = True
TIME_ZONE = "UTC"
"""
TASKS = """
from django.contrib.auth.models import Group
from django.tasks import task

from compat_sync.unique import unique


@task
def name_group(name):
    Group.objects.create(name=name)


@task
async def count_groups():
    return await Group.objects.acount()


@unique
@task
def charge(order_id):
    pass
"""


def make_shop(folder: Path, url: str, **tests: str) -> Project:
    """Write a project with the app `shop`, and files of tests by their names."""
    project = make_project(folder, url, apps=(*APPS, "shop"), more=SETTINGS)
    app = folder / "shop"
    app.mkdir()
    app.joinpath("__init__.py").write_text("")
    app.joinpath("tasks.py").write_text(TASKS)
    for name, text in tests.items():
        folder.joinpath(f"{name}.py").write_text(text)
    return project


def run_pytest(project: Project, *plugins: str) -> "subprocess.CompletedProcess[str]":
    """Run pytest over a project with our plugin and these, and no other that happens to be installed."""
    path = os.pathsep.join((str(project.folder), str(ROOT), os.environ.get("PYTHONPATH", "")))
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "DJANGO_SETTINGS_MODULE": "project_settings",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    loops = "asyncio_default_fixture_loop_scope = function\n" if "pytest_asyncio.plugin" in plugins else ""
    project.folder.joinpath("pytest.ini").write_text(f"[pytest]\nfilterwarnings = error\n{loops}")
    chosen = [argument for plugin in (PLUGIN, *plugins) for argument in ("-p", plugin)]
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    return subprocess.run(
        command, cwd=project.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
