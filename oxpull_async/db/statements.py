"""SQL statements: read from `sql/<dialect>/` and compiled to a driver's placeholders.

A statement's text uses `:name` for values and `:now` for the one expression that tells the time
(`sql/<dialect>/now.sql`, which itself uses `:clock_offset`). Nothing else is ever put into SQL.
A comment line `-- then: ...` parts a statement into steps: commands that stand or fall together and go to the
database in one trip; the last one's rows are the answer.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import accumulate

from oxpull_async.db.contract import Scalar
from oxpull_async.domain.errors import UnknownStatement

_TOKEN = re.compile(
    r"'(?:[^']|'')*'"  # a string literal
    r"|::\w+"  # a cast
    r"|:(?P<name>[a-z_][a-z0-9_]*)"
    r"|(?P<percent>%)"
)
_MARK = re.compile(r"%[%s]")
_COMMENT = re.compile(r"^\s*--[^\n]*\n?", re.MULTILINE)
_THEN = re.compile(r"^\s*-- then:[^\n]*\n", re.MULTILINE)
_READS = ("select", "values", "pragma", "show")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a statement that has several, and how many of the values are its own."""

    sql: str
    marks: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL text with its parameters in the order the driver binds them.

    `steps` is empty for a single command.
    """

    name: str
    sql: str
    parameters: tuple[str, ...]
    names: frozenset[str]
    writes: bool
    steps: tuple[Step, ...] = ()

    def bind(self, values: dict[str, Scalar], clock_offset: float = 0.0) -> list[Scalar]:
        """Return the values in the statement's order.

        `clock_offset` goes in where the statement tells the time.

        Raises: UnknownStatement when a value is missing or the statement does not use one that was passed.
        """
        if "clock_offset" in self.names:
            values["clock_offset"] = clock_offset
        if values.keys() != self.names:
            missing, unused = sorted(self.names - values.keys()), sorted(values.keys() - self.names)
            raise UnknownStatement(f"statement {self.name!r}: missing values {missing}, unused values {unused}")
        return [values[name] for name in self.parameters]

    def dealt(self, values: Sequence[Scalar]) -> list[tuple[str, Sequence[Scalar]]]:
        """Return the commands to run, in order, each with its share of the bound values."""
        if not self.steps:
            return [(self.sql, values)]
        ends = list(accumulate(step.marks for step in self.steps))
        return [(step.sql, values[end - step.marks : end]) for step, end in zip(self.steps, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Placeholders:
    """How a driver marks a value.

    `numbered` ($1, repeats share a number) or `positional` (%s or ?).
    """

    numbered: bool
    mark: str
    doubles_percent: bool


NUMBERED = Placeholders(numbered=True, mark="$", doubles_percent=False)
FORMAT = Placeholders(numbered=False, mark="%s", doubles_percent=True)
QMARK = Placeholders(numbered=False, mark="?", doubles_percent=False)


def spread(statement: Statement, values: list[Scalar]) -> tuple[Statement, list[Scalar]]:
    """Give each text of a list a `%s` of its own, for drivers that bind no lists."""
    if not any(isinstance(value, tuple) for value in values):
        return statement, values
    left = iter(values)
    flat: list[Scalar] = []

    def marks(token: re.Match[str]) -> str:
        if token.group() == "%%":
            return "%%"
        value = next(left)
        flat.extend(value if isinstance(value, tuple) else (value,))
        return f"({', '.join(['%s'] * len(value))})" if isinstance(value, tuple) else "%s"

    return replace(statement, sql=_MARK.sub(marks, statement.sql)), flat


@cache
def load_statement(dialect: str, name: str, style: Placeholders) -> Statement:
    """Return the statement `name` of a dialect, compiled for a placeholder style.

    Raises: UnknownStatement when the dialect's folder has no such file.
    """
    return compile_statement(name, _read(dialect, name), style, now=_bare(_read(dialect, "now")))


def compile_statement(name: str, text: str, style: Placeholders, *, now: str = "") -> Statement:
    """Compile one SQL text for a driver.

    Comment lines go, the time's expression comes in, placeholders get the driver's form.
    """
    commands = [_compile_command(_bare(part), style, now) for part in _THEN.split(text)]
    sql = "\n;\n".join(command for command, _ in commands)
    parameters = tuple(name for _, names in commands for name in names)
    steps = tuple(Step(command, len(names)) for command, names in commands) if len(commands) > 1 else ()
    writes = not all(command.lower().startswith(_READS) for command, _ in commands)
    return Statement(name, sql, parameters, frozenset(parameters), writes, steps)


def _compile_command(text: str, style: Placeholders, now: str) -> tuple[str, list[str]]:
    sql = _TOKEN.sub(lambda token: now if token["name"] == "now" else token.group(), text)
    parameters: list[str] = []
    return _TOKEN.sub(_substitution(parameters, style), sql).strip(), parameters


def _bare(text: str) -> str:
    return _COMMENT.sub("", text).strip()


def _substitution(parameters: list[str], style: Placeholders) -> Callable[[re.Match[str]], str]:
    def mark(token: re.Match[str]) -> str:
        if token["percent"]:
            return "%%" if style.doubles_percent else "%"
        name = token["name"]
        if name is None:
            return token.group().replace("%", "%%") if style.doubles_percent else token.group()
        if not style.numbered:
            parameters.append(name)
            return style.mark
        if name not in parameters:
            parameters.append(name)
        return f"{style.mark}{parameters.index(name) + 1}"

    return mark


@cache
def _read(dialect: str, name: str) -> str:
    path = resources.files("oxpull_async") / "sql" / dialect / f"{name}.sql"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnknownStatement(f"no statement {name!r} in sql/{dialect}/") from None
