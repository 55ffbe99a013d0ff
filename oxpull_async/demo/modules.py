"""What the demo computes: facts about one source file, and their sum."""

import ast
import sysconfig
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = frozenset({"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"})
LARGEST = 10
UNPARSABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """What one source file holds; `unreadable` says why nothing could be counted."""

    name: str
    lines: int = 0
    functions: int = 0
    classes: int = 0
    imports: int = 0
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """The sum over all files, and the largest modules among them."""

    files: int
    unreadable: int
    lines: int
    functions: int
    classes: int
    imports: int
    largest: list[ModuleFacts]

    @property
    def definitions(self) -> int:
        """Functions, methods and classes together."""
        return self.functions + self.classes


def standard_library() -> Path:
    """Return where the running interpreter keeps its standard library."""
    return Path(sysconfig.get_path("stdlib"))


def find_sources(root: Path, limit: int | None = None) -> list[Path]:
    """Return the Python files below a folder by path, without tests and installed packages."""
    found = (path for path in root.rglob("*.py") if not _is_left_out(path.relative_to(root)) and path.is_file())
    return sorted(found)[:limit]


def module_name(root: Path, path: Path) -> str:
    """Return the dotted name under which a file below `root` is imported."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def read_module(path: Path, name: str) -> ModuleFacts:
    """Read, parse and count one file; one that cannot be parsed is told, not raised."""
    try:
        source = path.read_bytes()
        tree = ast.parse(source)
    except UNPARSABLE as error:
        return ModuleFacts(name, unreadable=f"{type(error).__name__}: {error}".encode(errors="replace").decode()[:200])
    kinds = [type(node) for node in ast.walk(tree)]
    return ModuleFacts(
        name,
        lines=len(source.splitlines()),
        functions=_count(kinds, {ast.FunctionDef, ast.AsyncFunctionDef}),
        classes=_count(kinds, {ast.ClassDef}),
        imports=_count(kinds, {ast.Import, ast.ImportFrom}),
    )


def add_up(modules: Iterable[ModuleFacts]) -> Totals:
    """Add the facts of all files up."""
    facts = list(modules)
    return Totals(
        files=len(facts),
        unreadable=sum(one.unreadable is not None for one in facts),
        lines=sum(one.lines for one in facts),
        functions=sum(one.functions for one in facts),
        classes=sum(one.classes for one in facts),
        imports=sum(one.imports for one in facts),
        largest=sorted(facts, key=lambda one: (-one.lines, one.name))[:LARGEST],
    )


def _is_left_out(path: Path) -> bool:
    return not LEFT_OUT.isdisjoint(path.parts[:-1])


def _count(kinds: Iterable[type], wanted: Collection[type]) -> int:
    return sum(kind in wanted for kind in kinds)
