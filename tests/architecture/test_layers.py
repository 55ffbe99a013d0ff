"""Imports point downward only; the core knows no loop, no clock, no driver."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.tree import PACKAGES, Module, functions, module, modules, none_of

DRIVER_LIBRARIES = frozenset(
    "asyncpg aiomysql aiosqlite psycopg pymysql MySQLdb sqlite3 django sqlalchemy".split()  # noqa: SIM905
)
LOOPS = frozenset({"asyncio", "anyio"})
NO_CORE = LOOPS | DRIVER_LIBRARIES | {"threading", "time", "random", "logging"}
LIBRARY = "oxpull_async"
PUBLIC = "the public names"


@dataclass(frozen=True, slots=True)
class Layer:
    """What a layer may import of the package, and must not import from outside."""

    inside: frozenset[str]
    banned: frozenset[str] = frozenset()


DOWN_TO_STORE = frozenset({"domain", "db", "store"})
CORE = DOWN_TO_STORE | {"errors", PUBLIC}
COMPAT: dict[frozenset[str], frozenset[str]] = {
    # Django's blocking driver, and the way from DATABASES to the native ones
    frozenset({"columns", "connection", "connection_apart", "connection_errors", "dialects"}): frozenset({"drivers"}),
    frozenset({"native"}): frozenset({"drivers", "app.open_database"}),
    # what users call, over the objects that users of plain asyncio hold
    frozenset({"actions", "backend", "declaring", "enqueuing", "hosts", "move"}): frozenset({"app"}),
    frozenset({"batches", "operations", "schedules", "tasks", "watching", "workflows"}): frozenset({"app"}),
    # programs: they run tasks, or talk to people as `oxpull` does
    frozenset({"management", "testing", "worker"}): frozenset({"app", "runtime", "cli"}),
}
"""What parts of compat_sync may import beside CORE; all others import CORE only."""
LAYERS = {
    "oxpull_async.domain": Layer(frozenset({"domain"}), NO_CORE),
    "oxpull_async.db": Layer(frozenset({"domain", "db"}), LOOPS | DRIVER_LIBRARIES),
    "oxpull_async.sql": Layer(frozenset({"sql"})),
    "oxpull_async.store": Layer(DOWN_TO_STORE, NO_CORE),
    "oxpull_async.drivers": Layer(frozenset({"domain.errors", "db", "drivers"})),
    "oxpull_async.runtime": Layer(DOWN_TO_STORE | {"runtime"}, DRIVER_LIBRARIES),
    **{f"compat_sync.{part}": Layer(CORE | more) for parts, more in COMPAT.items() for part in parts},
    "compat_sync": Layer(CORE),
}
TOP = Layer(frozenset({""}))


def within(name: str, package: str) -> bool:
    """Tell whether a dotted name is a package or lies in it; the empty package holds all."""
    return not package or name == package or name.startswith(f"{package}.")


def layer_of(name: str) -> Layer:
    """Look up the rule for a module; the top of the package may import anything of it."""
    return next((rule for package, rule in LAYERS.items() if within(name, package)), TOP)


def imported(node: ast.AST, known: frozenset[str]) -> Iterator[str]:
    """List the modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield full if full in known else node.module or ""


def imports(source: Module, known: frozenset[str] = frozenset()) -> Iterator[tuple[int, str]]:
    """List every import of a module, those inside functions and type-checking blocks too."""
    for node in ast.walk(source.tree):
        for name in imported(node, known):
            yield getattr(node, "lineno", 0), name


def inner(name: str) -> str:
    """Give a module's name within the package; the package itself stands for its public names."""
    return name.removeprefix(LIBRARY).lstrip(".") or PUBLIC


def known_names(sources: Iterable[Module]) -> frozenset[str]:
    """Collect the names of all modules, to tell `from package import module` from a plain name."""
    return frozenset(source.name for source in sources)


def upward_imports(source: Module, known: frozenset[str] = frozenset()) -> list[str]:
    """List the imports that leave their layer in the wrong direction."""
    rule = layer_of(source.name)
    return [
        f"{source.path}:{line} imports {name}"
        for line, name in imports(source, known)
        if name.split(".")[0] in rule.banned
        or (within(name, LIBRARY) and not any(within(inner(name), part) for part in rule.inside))
        or (within(source.name, LIBRARY) and name.split(".")[0] in {"compat_sync", "django"})
    ]


def late_imports(source: Module) -> list[str]:
    """List imports inside functions, which only the top of the package may have."""
    if layer_of(source.name) is TOP or not within(source.name, LIBRARY):
        return []
    nested = (node for function in functions(source.tree) for node in ast.walk(function))
    return [f"{source.path}:{n.lineno} imports late" for n in nested if isinstance(n, ast.Import | ast.ImportFrom)]


def private_imports(source: Module) -> list[str]:
    """List names with an underscore taken from another file."""
    taken = (node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom) and node.module != "__future__")
    return [
        f"{source.path}:{node.lineno} takes {alias.name} from {node.module}"
        for node in taken
        for alias in node.names
        if within(node.module or "", source.name.split(".")[0]) and alias.name.startswith("_") and alias.name[1] != "_"
    ]


def driver_borrowing(sources: Sequence[Module]) -> list[str]:
    """List drivers that import a module which itself imports another database library."""
    known = known_names(sources)
    libraries = {s.name: {name.split(".")[0] for _, name in imports(s)} & DRIVER_LIBRARIES for s in sources}
    return [
        f"{source.path}:{line} borrows from {name}"
        for source in sources
        if within(source.name, "oxpull_async.drivers")
        for line, name in imports(source, known)
        if within(name, "oxpull_async.drivers") and libraries.get(name, set()) - libraries[source.name]
    ]


def cycle(sources: Sequence[Module]) -> list[str]:
    """Give one cycle of module-level imports, if there is any."""
    known = known_names(sources)
    graph = {
        source.name: {name for node in source.tree.body for name in imported(node, known)} & known - {source.name}
        for source in sources
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def test_every_layer_imports_only_what_lies_below_it() -> None:
    sources = modules(*PACKAGES)
    known = known_names(sources)
    none_of(offence for source in sources for offence in upward_imports(source, known))


def test_every_part_that_the_table_names_is_there_and_needs_what_it_may() -> None:
    sources = modules(*PACKAGES)
    known = known_names(sources)
    for parts, more in COMPAT.items():
        used = {
            inner(name)
            for source in sources
            for part in parts
            if within(source.name, f"compat_sync.{part}")
            for _, name in imports(source, known)
            if within(name, LIBRARY)
        }
        assert all(f"compat_sync.{part}" in known for part in parts), parts
        assert all(any(within(name, allowed) for name in used) for allowed in more), (parts, more)


def test_only_the_top_of_the_package_imports_inside_functions() -> None:
    none_of(offence for source in modules(*PACKAGES) for offence in late_imports(source))


def test_an_underscore_means_this_file_only() -> None:
    none_of(offence for source in modules(*PACKAGES) for offence in private_imports(source))


def test_no_driver_imports_another() -> None:
    none_of(driver_borrowing(modules(*PACKAGES)))


def test_modules_import_each_other_without_cycles() -> None:
    assert cycle(modules(*PACKAGES)) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("oxpull_async/domain/task.py", "import time"),
        ("oxpull_async/domain/task.py", "from oxpull_async.store.claim import claim"),
        ("oxpull_async/store/claim.py", "async def f():\n    import asyncio.locks"),
        ("oxpull_async/store/claim.py", "from oxpull_async.runtime import worker"),
        ("oxpull_async/db/contract.py", "import asyncpg"),
        ("oxpull_async/drivers/aiosqlite.py", "from oxpull_async.domain.record import TaskRecord"),
        ("oxpull_async/runtime/worker.py", "from oxpull_async.drivers import asyncpg"),
        ("oxpull_async/app.py", "import compat_sync"),
        ("compat_sync/shim.py", "from oxpull_async.runtime.worker import Worker"),
        ("compat_sync/models.py", "from oxpull_async.drivers import dialects"),
        ("compat_sync/admin/tasks.py", "from oxpull_async.app.oxpull import Oxpull"),
        ("compat_sync/backend.py", "from oxpull_async.runtime.worker import Worker"),
        ("compat_sync/native/url.py", "from oxpull_async.app.oxpull import Oxpull"),
        ("compat_sync/worker/host.py", "from oxpull_async.drivers import asyncpg"),
        ("oxpull_async/store/claim.py", "from oxpull_async import Worker"),
    ],
)
def test_the_check_sees_an_upward_import(path: str, text: str) -> None:
    assert len(upward_imports(module(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("oxpull_async/drivers/aiosqlite.py", "from oxpull_async.domain.errors import Contended\nimport asyncio"),
        ("oxpull_async/app.py", "from oxpull_async.drivers import asyncpg"),
        ("oxpull_async/domain/task.py", "from datetime import time"),
        ("compat_sync/backend.py", "from oxpull_async.app import Oxpull"),
        ("compat_sync/context.py", "from oxpull_async import TaskContext"),
        ("compat_sync/connection_apart.py", "from oxpull_async.drivers.dialects import MYSQL"),
        ("compat_sync/native/database.py", "from oxpull_async.app.open_database import open_url"),
        ("compat_sync/testing/inline.py", "from oxpull_async.runtime.attempts import Attempt"),
    ],
)
def test_the_check_lets_a_downward_import_pass(path: str, text: str) -> None:
    assert upward_imports(module(path, text)) == []


def test_the_check_sees_a_late_a_private_and_a_borrowed_import() -> None:
    assert late_imports(module("oxpull_async/store/a.py", "def f():\n    import json"))
    assert private_imports(module("oxpull_async/store/a.py", "from oxpull_async.store.b import _c"))
    drivers = [
        module("oxpull_async/drivers/a.py", "import asyncpg\nfrom oxpull_async.drivers.b import x"),
        module("oxpull_async/drivers/b.py", "import aiosqlite"),
    ]
    assert driver_borrowing(drivers)


def test_the_check_sees_a_cycle() -> None:
    first = module("oxpull_async/store/a.py", "from oxpull_async.store import b")
    second = module("oxpull_async/store/b.py", "from oxpull_async.store.a import f")
    assert cycle([first, second])
    assert not cycle([first])
