"""Nothing outgrows the size at which it can be read in one go. There is no list of exemptions."""

import ast
import io
import tokenize
from collections.abc import Callable, Iterator

import pytest

from tests.architecture.tree import (
    PACKAGES,
    Function,
    Module,
    classes,
    docstring_node,
    functions,
    lines,
    module,
    modules,
    none_of,
)

EVERYTHING = (*PACKAGES, "tests", "benchmarks")
FUNCTION_LINES, LOOSE_FUNCTION_LINES = 50, 70
NESTING, PARAMETERS = 3, 6
ATTRIBUTES, METHODS, CLASS_LINES = 12, 15, 350
MODULE_LINES, COMMENT_RUN, EXPORTS = 400, 6, 12
FUNCTION_DOCSTRING, MODULE_DOCSTRING = 10, 15
PROSE_SHARE, SMALL_MODULE = 0.35, 40
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def too_long(source: Module) -> Iterator[str]:
    """List functions with too many lines, docstrings not counted, and the module itself."""
    is_loose = source.path.startswith(("tests/", "benchmarks/", "oxpull_async/cli"))
    cap = LOOSE_FUNCTION_LINES if is_loose else FUNCTION_LINES
    for function in functions(source.tree):
        docstring = docstring_node(function)
        length = lines(function) - (lines(docstring) if docstring else 0)
        if length > cap:
            yield f"{source.path}:{function.lineno} {function.name} has {length} lines, {cap} are allowed"
    count = source.text.count("\n")
    if count > MODULE_LINES:
        yield f"{source.path} has {count} lines, {MODULE_LINES} are allowed"


def depth(node: ast.AST) -> int:
    """Count the deepest nesting of blocks; an elif is as deep as its if."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, SCOPES):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and [child] == node.orelse
        deepest = max(deepest, depth(child) + (isinstance(child, BLOCKS) and not is_elif))
    return deepest


def parameters(function: Function) -> int:
    """Count what a caller passes; self and cls are not passed."""
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in {"self", "cls"}])


def too_complicated(source: Module) -> Iterator[str]:
    """List functions that nest too deep or take too much."""
    for function in functions(source.tree):
        where = f"{source.path}:{function.lineno} {function.name}"
        if depth(function) > NESTING:
            yield f"{where} nests {depth(function)} deep, {NESTING} are allowed"
        if parameters(function) > PARAMETERS:
            yield f"{where} takes {parameters(function)} parameters, {PARAMETERS} are allowed"


def attributes(owner: ast.ClassDef) -> set[str]:
    """Collect what instances hold; the fields of a frozen value or a read model are its columns and not counted."""
    header = " ".join(ast.unparse(part) for part in (*owner.decorator_list, *owner.bases, *owner.keywords))
    fields = {n.target.id for n in owner.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    held = {
        node.attr
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    are_columns = any(sign in header for sign in ("frozen=True", "TypedDict", "NamedTuple", "ReadModel"))
    return held if are_columns else held | fields


def too_big(source: Module) -> Iterator[str]:
    """List classes that hold, do or say too much."""
    for owner in classes(source.tree):
        where = f"{source.path}:{owner.lineno} {owner.name}"
        methods = {n.name for n in owner.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
        methods = {name for name in methods if not name.startswith("__")}
        if len(attributes(owner)) > ATTRIBUTES:
            yield f"{where} has {len(attributes(owner))} attributes, {ATTRIBUTES} are allowed"
        if len(methods) > METHODS:
            yield f"{where} has {len(methods)} methods, {METHODS} are allowed"
        if lines(owner) > CLASS_LINES:
            yield f"{where} has {lines(owner)} lines, {CLASS_LINES} are allowed"


def too_many_names(source: Module) -> Iterator[str]:
    """List modules that offer too much; a family counts once, by its base or by its union."""
    top = [node for node in source.tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    here = {node.name for node in top}
    unions = (node.value for node in source.tree.body if isinstance(node, ast.TypeAlias))
    cases = {name.id for union in unions for name in ast.walk(union) if isinstance(name, ast.Name)}
    names = {
        node.name
        for node in top
        if not node.name.startswith("_")
        and node.name not in cases
        and not (isinstance(node, ast.ClassDef) and here & {ast.unparse(base) for base in node.bases})
    }
    if len(names) > EXPORTS:
        yield f"{source.path} offers {len(names)} names, {EXPORTS} are allowed"


def comment_lines(text: str) -> list[int]:
    """List the lines that hold nothing but a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [t.start[0] for t in tokens if t.type == tokenize.COMMENT and t.line.strip().startswith("#")]


def long_comments(source: Module) -> Iterator[str]:
    """List runs of comment lines that belong on a decision page."""
    run, last = 0, -1
    for line in comment_lines(source.text):
        run = run + 1 if line == last + 1 else 1
        last = line
        if run == COMMENT_RUN + 1:
            yield f"{source.path}:{line} is a comment of more than {COMMENT_RUN} lines"


def documented(source: Module) -> Iterator[tuple[ast.Module | ast.ClassDef | Function, ast.Expr]]:
    """List what has a docstring beside a body; a docstring that is the whole body is code."""
    for node in (source.tree, *classes(source.tree), *functions(source.tree)):
        docstring = docstring_node(node)
        rest = [statement for statement in node.body[1:] if ast.unparse(statement) != "..."]
        if docstring and (rest or isinstance(node, ast.Module)):
            yield node, docstring


def too_wordy(source: Module) -> Iterator[str]:
    """List long docstrings, and modules that are mostly prose."""
    prose = len(comment_lines(source.text))
    for node, docstring in documented(source):
        cap = MODULE_DOCSTRING if isinstance(node, ast.Module) else FUNCTION_DOCSTRING
        prose += lines(docstring)
        if lines(docstring) > cap:
            yield f"{source.path}:{docstring.lineno} is a docstring of {lines(docstring)} lines, {cap} are allowed"
    total = len([line for line in source.text.splitlines() if line.strip()])
    if total > SMALL_MODULE and prose / total > PROSE_SHARE:
        yield f"{source.path} is {prose / total:.0%} prose, {PROSE_SHARE:.0%} are allowed"


@pytest.mark.parametrize("check", [too_long, long_comments])
def test_every_file_keeps_its_length(check: Callable[[Module], Iterator[str]]) -> None:
    none_of(offence for source in modules(*EVERYTHING) for offence in check(source))


@pytest.mark.parametrize("check", [too_complicated, too_big, too_many_names, too_wordy])
def test_every_module_keeps_its_budget(check: Callable[[Module], Iterator[str]]) -> None:
    none_of(offence for source in modules(*PACKAGES) for offence in check(source))


DEEP = "def f():\n for a in b:\n  if a:\n   with a:\n    while a:\n     pass\n"
FLAT = "def f():\n if a:\n  pass\n elif b:\n  pass\n elif c:\n  for d in e:\n   if d:\n    pass\n"
CASES = [f"B{n}" for n in range(13)]
OFFENCES: list[tuple[Callable[[Module], Iterator[str]], str]] = [
    (too_long, "def f():\n" + "    a = 1\n" * 50),
    (too_long, "a = 1\n" * 401),
    (too_complicated, DEEP),
    (too_complicated, "def f(a, b, c, *, d, e, f, g): ..."),
    (too_big, "class A:\n def f(self):\n" + "".join(f"  self.a{n} = 1\n" for n in range(13))),
    (too_big, "class A:\n" + "".join(f" def f{n}(self): ...\n" for n in range(16))),
    (too_big, "class A:\n" + " a = 1\n" * 351),
    (too_many_names, "".join(f"def f{n}(): ...\n" for n in range(13))),
    (long_comments, "# a\n" * 7),
    (too_wordy, 'def f():\n    """A.\n' + "    b\n" * 10 + '    """\n    return 1\n'),
    (too_wordy, ("# a\n" * 2 + "b = 1\n" * 2) * 11),
]


@pytest.mark.parametrize(("check", "text"), OFFENCES)
def test_the_check_sees_an_offence(check: Callable[[Module], Iterator[str]], text: str) -> None:
    assert len(list(check(module("oxpull_async/store/a.py", text)))) == 1


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (too_long, 'def f():\n    """A.\n' + "    b\n" * 50 + '    """\n    return 1\n'),
        (too_complicated, FLAT),
        (too_big, "@dataclass(frozen=True)\nclass A:\n" + "".join(f" a{n}: int\n" for n in range(20))),
        (too_many_names, "class A: ...\n" + "".join(f"class B{n}(A): ...\n" for n in range(20))),
        (too_many_names, "".join(f"class B{n}: ...\n" for n in range(13)) + f"type A = {' | '.join(CASES)}\n"),
        (too_wordy, "".join(f'class A{n}(B):\n    """A sentence."""\n' for n in range(40))),
    ],
)
def test_the_check_lets_the_permitted_pass(check: Callable[[Module], Iterator[str]], text: str) -> None:
    assert list(check(module("oxpull_async/store/a.py", text))) == []
