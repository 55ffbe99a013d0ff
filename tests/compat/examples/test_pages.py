"""The examples' pages say how they are started as the tests start them."""

from pathlib import Path

import pytest

from tests.compat.examples.places import DJANGO, FASTAPI

COMMANDS = {
    DJANGO: (
        "python manage.py migrate",
        "python manage.py runserver",
        "uvicorn django_shop.asgi:application",
        "python manage.py oxpull_worker",
        "python manage.py createsuperuser",
    ),
    FASTAPI: (
        "python manage.py oxpull_worker --import fastapi_shop",
        "uvicorn fastapi_shop.app:app",
        "oxpull worker fastapi_shop.tasks:ox",
        "DJANGO_SETTINGS_MODULE=django_shop.settings oxpull worker fastapi_shop.tasks:ox --import shop",
    ),
}


@pytest.mark.parametrize("project", COMMANDS, ids=lambda project: project.name)
def test_a_page_names_the_commands_that_the_tests_run(project: Path) -> None:
    page = project.joinpath("README.md").read_text(encoding="utf-8")
    assert [command for command in COMMANDS[project] if command not in page] == []


@pytest.mark.parametrize("project", COMMANDS, ids=lambda project: project.name)
def test_the_files_that_a_page_names_exist(project: Path) -> None:
    page = project.joinpath("README.md").read_text(encoding="utf-8")
    named = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert named
    assert [name for name in named if not project.joinpath(name).is_file()] == []
