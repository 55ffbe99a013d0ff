"""No decision and no name depends on a vendor outside sql/ and drivers/: traits decide there.

Words in messages, help texts and look-up tables are fine; a comparison with them is not.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PACKAGES, Module, module, modules, none_of

VENDORS = frozenset({"postgres", "postgresql", "psql", "mysql", "mariadb", "sqlite", "sqlite3"})
AT_HOME = ("oxpull_async/sql/", "oxpull_async/drivers/", "compat_sync/connection")
ASKING = frozenset({"startswith", "endswith", "find", "count", "index", "fullmatch", "match", "search"})


def is_vendor(name: str) -> bool:
    """Tell whether an identifier has a vendor among its words."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return bool(VENDORS & set(words)) or "postgre" in name.lower()


def names_vendor(node: ast.AST) -> bool:
    """Tell whether an expression holds a text that names a vendor."""
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return any(VENDORS & set(re.findall(r"[a-z0-9]+", text.lower())) for text in texts)


def defined(node: ast.AST) -> Iterator[str]:
    """List the identifiers that a node brings into being."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr


def asks_for_vendor(node: ast.AST) -> bool:
    """Tell whether a node compares something with a vendor's name."""
    if isinstance(node, ast.Compare | ast.MatchValue):
        return names_vendor(node)
    is_question = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKING
    return is_question and names_vendor(node)


def vendor_words(source: Module) -> list[str]:
    """List the places where a module knows a vendor."""
    if source.path.startswith(AT_HOME):
        return []
    found = [f"{source.path} is named after a vendor"] if is_vendor(source.name.replace(".", "_")) else []
    for node in ast.walk(source.tree):
        line = getattr(node, "lineno", 0)
        found += [f"{source.path}:{line} defines {name}" for name in defined(node) if is_vendor(name)]
        if asks_for_vendor(node):
            found.append(f"{source.path}:{line} compares with a vendor's name")
    return found


def test_no_code_outside_sql_and_drivers_knows_a_vendor() -> None:
    none_of(offence for source in modules(*PACKAGES) for offence in vendor_words(source))


@pytest.mark.parametrize(
    "text",
    [
        "if dialect.name == 'postgres': pass",
        "if scheme in ('mysql', 'mariadb'): pass",
        "if 'sqlite' in url: pass",
        "url.startswith('postgresql://')",
        "match name:\n    case 'mysql': pass",
        "def claim_on_postgres(): ...",
        "class SqliteClaim: ...",
        "is_mysql = True",
        "self.postgres_pool = 1",
    ],
)
def test_the_check_sees_a_vendor(text: str) -> None:
    assert len(vendor_words(module("oxpull_async/store/claim.py", text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("oxpull_async/drivers/aiomysql.py", "if server == 'mariadb': pass"),
        ("oxpull_async/app.py", "DRIVERS = {'postgresql': 'oxpull_async.drivers.asyncpg'}"),
        ("oxpull_async/app.py", "import aiosqlite\nurl = 'sqlite:///demo.db'"),
        ("oxpull_async/cli/main.py", "help = 'postgresql://user@host/database'"),
    ],
)
def test_the_check_lets_tables_and_texts_pass(path: str, text: str) -> None:
    assert vendor_words(module(path, text)) == []
