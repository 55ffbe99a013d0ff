import sys
from pathlib import Path

import pytest

from oxpull_async.demo.modules import ModuleFacts, add_up, find_sources, module_name, read_module, standard_library


def write(folder: Path, name: str, source: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source)
    return path


def test_definitions_and_imports_are_counted_at_every_depth(tmp_path: Path) -> None:
    source = b"import os\nclass A:\n    async def f(self):\n        from a import b\n        def g(): ...\n"
    facts = read_module(write(tmp_path, "a.py", source), "a")
    assert facts == ModuleFacts("a", lines=5, functions=2, classes=1, imports=2)


@pytest.mark.parametrize("source", [b"def (:\n", b"a = '\xff'\n", b"a = 1\0\n", b"# coding: nonsense\n", b"(" * 2000])
def test_a_file_that_cannot_be_parsed_is_told_and_counts_nothing(tmp_path: Path, source: bytes) -> None:
    facts = read_module(write(tmp_path, "a.py", source), "a")
    assert facts.unreadable
    assert facts.lines == 0


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert "FileNotFoundError" in (read_module(tmp_path / "gone.py", "gone").unreadable or "")


def test_tests_and_installed_packages_are_left_out(tmp_path: Path) -> None:
    names = ["b.py", "a/c.py", "a/test/d.py", "site-packages/e.py", "test.py", "a/notes.txt"]
    paths = [write(tmp_path, name, b"") for name in names]
    assert find_sources(tmp_path) == [paths[1], paths[0], paths[4]]


def test_a_folder_named_like_a_test_may_hold_everything(tmp_path: Path) -> None:
    path = write(tmp_path, "tests/a.py", b"")
    assert find_sources(tmp_path / "tests") == [path]


@pytest.mark.parametrize(
    ("path", "name"), [("a.py", "a"), ("a/b.py", "a.b"), ("a/b/__init__.py", "a.b"), ("__init__.py", "__init__")]
)
def test_a_module_is_named_as_it_is_imported(tmp_path: Path, path: str, name: str) -> None:
    assert module_name(tmp_path, tmp_path / path) == name


def test_totals_do_not_depend_on_the_order_of_the_files() -> None:
    facts = [ModuleFacts(f"m{n}", lines=n // 2, functions=n, classes=1, imports=2) for n in range(30)]
    facts.append(ModuleFacts("broken", unreadable="SyntaxError"))
    totals = add_up(facts)
    assert totals == add_up(reversed(facts))
    assert (totals.files, totals.unreadable, totals.definitions, totals.imports) == (31, 1, 465, 60)
    assert [one.name for one in totals.largest[:3]] == ["m28", "m29", "m26"]


def test_the_standard_library_is_that_of_this_interpreter() -> None:
    assert (standard_library() / "asyncio" / "runners.py").is_file()
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in str(standard_library())
