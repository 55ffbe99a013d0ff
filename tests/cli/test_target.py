"""`module:ox` is found in the working directory, and what is wrong with it is said."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import ClickException

from oxpull_async.cli.target import load_app
from tests.cli.support import STEPS, document, run

OX = "from oxpull_async import Oxpull\n"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in an empty folder and forget its modules afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith("market"):
            del sys.modules[name]


def write(text: str, name: str = "market.py") -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def refusal(spec: str) -> str:
    with pytest.raises(ClickException) as caught:
        load_app(spec)
    return caught.value.message


def test_the_named_oxpull_is_found_in_the_working_directory() -> None:
    write(OX + "a = Oxpull('sqlite:///a.db')\nb = Oxpull('sqlite:///b.db')")
    assert "b.db" in repr(load_app("market:b"))


def test_an_oxpull_inside_another_object_is_found() -> None:
    write(OX + "class Shop:\n    ox = Oxpull('sqlite:///a.db')", "market/tasks.py")
    assert "a.db" in repr(load_app("market.tasks:Shop.ox"))


def test_without_a_name_the_only_oxpull_is_taken_also_under_two_names() -> None:
    write(OX + "ox = also = Oxpull('sqlite:///a.db')")
    assert "a.db" in repr(load_app("market"))


def test_without_a_name_several_oxpulls_are_listed() -> None:
    write(OX + "a = Oxpull('sqlite:///a.db')\nb = Oxpull('sqlite:///b.db')")
    assert refusal("market") == "module 'market' holds several Oxpulls: write market:a or market:b"


def test_a_module_without_oxpull_is_refused() -> None:
    write("a = 1")
    assert "holds no Oxpull" in refusal("market")


def test_a_missing_module_is_named() -> None:
    assert refusal("market:ox").startswith("there is no module 'market' in ")


def test_a_missing_module_of_a_package_is_named() -> None:
    write("", "market/__init__.py")
    assert "there is no module 'market.tasks'" in refusal("market.tasks:ox")


def test_a_mistake_that_we_find_is_placed_in_the_module_and_not_in_us() -> None:
    write(f"{OX}\n\nox = Oxpull('nonsense')")
    said = refusal("market:ox")
    assert "The database URL 'nonsense' cannot be used" in said
    assert said.endswith("market.py, line 4)")


def test_a_module_that_misses_another_says_which_and_where() -> None:
    write("import not_there_at_all")
    said = refusal("market:ox")
    assert "importing 'market' failed: ModuleNotFoundError: No module named 'not_there_at_all'" in said
    assert said.endswith("market.py, line 1)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nraise ValueError('bad day')", "ValueError: bad day"),
        ("def f(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_fails_shows_its_error(text: str, said: str) -> None:
    write(text)
    assert said in refusal("market:ox")


def test_a_failing_module_shows_no_password() -> None:
    write("raise ValueError('cannot reach postgresql://me:hunter2@host/x')")
    assert "hunter2" not in refusal("market:ox")


def test_a_missing_attribute_is_named_with_what_there_is() -> None:
    write(OX + "ox = Oxpull('sqlite:///a.db')")
    assert refusal("market:app") == "module 'market' has no attribute 'app'; there is market:ox"


def test_an_attribute_that_is_no_oxpull_is_refused() -> None:
    write(OX + "ox = Oxpull('sqlite:///a.db')\napp = 3")
    assert refusal("market:app") == "market:app is no Oxpull but of type int; there is market:ox"


@pytest.mark.parametrize("spec", ["market.py", "./market.py:ox"])
def test_a_file_is_answered_with_its_module(spec: str) -> None:
    assert refusal(spec).endswith("name its module, market:ox")


@pytest.mark.parametrize("spec", ["", ":ox", "a-b:ox", "a..b"])
def test_what_is_no_name_is_refused(spec: str) -> None:
    assert "is no module name" in refusal(spec)


def test_app_names_the_database_and_its_prints_do_not_spoil_the_json(sqlite_url: str) -> None:
    write(OX + f"print('hello')\nox = Oxpull({sqlite_url!r})")
    assert document("migrate", "--app", "market:ox") == {"applied": STEPS}
    assert run("migrate", "--check", "--url", sqlite_url).exit_code == 0
