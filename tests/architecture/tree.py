"""The source files of the packages, parsed once."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("oxpull_async", "compat_sync")
type Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: where it is, what it says."""

    path: str
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Give its dotted name; a package is named like its folder."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def module(path: str, text: str) -> Module:
    """Parse one module from its text."""
    return Module(path, text, ast.parse(text))


@cache
def modules(*folders: str) -> Sequence[Module]:
    """Parse every Python file below these folders of the repository."""
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return [module(file.relative_to(ROOT).as_posix(), file.read_text()) for file in files]


def functions(tree: ast.AST) -> Iterator[Function]:
    """List every function and method, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """List every class, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node


def docstring_node(node: ast.Module | ast.ClassDef | Function) -> ast.Expr | None:
    """Give the statement that is the docstring."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None


def lines(node: ast.stmt) -> int:
    """Count the lines that a statement spans."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def none_of(offences: Iterable[str]) -> None:
    """Fail with the offences, one a line."""
    found = list(offences)
    assert not found, f"{len(found)} offences\n" + "\n".join(found)
