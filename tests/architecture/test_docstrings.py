"""Every module and public name says its effect in one line."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PACKAGES, Module, docstring_node, module, modules, none_of

FIRST_LINE = 90
type Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public(node: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """List the public classes, functions and methods; an override has its contract above."""
    for child in node.body:
        if not isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or child.name.startswith("_"):
            continue
        if any(
            ast.unparse(decorator).endswith(("overload", "override", ".setter")) for decorator in child.decorator_list
        ):
            continue
        yield child
        if isinstance(child, ast.ClassDef):
            yield from public(child)


def complaint(node: Documented) -> str | None:
    """Say what is wrong with a docstring, if anything is."""
    if docstring_node(node) is None:
        return "has no docstring"
    first = (ast.get_docstring(node) or "").split("\n", 1)[0]
    if len(first) > FIRST_LINE:
        return f"has a first line of {len(first)} characters, {FIRST_LINE} are allowed"
    return None if first.endswith(".") else "has a first line that is no sentence with a full stop"


def undocumented(source: Module) -> list[str]:
    """List what lacks a proper docstring; an empty package file may stay empty."""
    if not source.tree.body and source.path.endswith("__init__.py"):
        return []
    nodes: list[tuple[str, Documented]] = [("the module", source.tree)]
    nodes += [(f"{node.lineno} {node.name}", node) for node in public(source.tree)]
    return [f"{source.path}:{where} {wrong}" for where, node in nodes if (wrong := complaint(node))]


def test_every_module_and_public_name_has_a_first_line() -> None:
    none_of(offence for source in modules(*PACKAGES) for offence in undocumented(source))


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        '"""No full stop"""',
        f'"""{"a" * 90}."""',
        '"""A."""\ndef f(): ...',
        '"""A."""\nclass A:\n    """A."""\n    def f(self): ...',
        '"""A sentence that goes\non."""',
    ],
)
def test_the_check_sees_a_missing_first_line(text: str) -> None:
    assert len(undocumented(module("oxpull_async/app.py", text))) == 1


@pytest.mark.parametrize("text", ['"""A."""\ndef _f(): ...', '"""A."""\n@override\ndef f(): ...', '"""A."""\nB = 1'])
def test_the_check_lets_private_names_and_overrides_pass(text: str) -> None:
    assert undocumented(module("oxpull_async/app.py", text)) == []
