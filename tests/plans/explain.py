"""Ask each database how it will run a statement, and say it in common words."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from oxpull_async import Oxpull
from oxpull_async.app.transactions import Transaction
from oxpull_async.db.contract import Scalar
from oxpull_async.db.statements import FORMAT, NUMBERED, QMARK, load_statement

TABLE = "oxpull_task"
STYLES = {"postgres": NUMBERED, "mysql": FORMAT, "sqlite": QMARK}
PRIMARY_NAMES = {"oxpull_task_pkey", "PRIMARY", "sqlite_autoindex_oxpull_task_1"}


@dataclass(frozen=True, slots=True)
class Plan:
    """Which of the task table's indexes a statement uses, and what of it is read whole or sorted."""

    indexes: frozenset[str]
    scans: tuple[str, ...]
    sorts: tuple[str, ...]
    text: str


def compiled(ox: Oxpull, name: str, values: dict[str, Scalar]) -> tuple[str, list[Scalar]]:
    """Give a statement of `sql/` as its driver gets it, with its values."""
    dialect = ox.database.dialect.name
    statement = load_statement(dialect, name, STYLES[dialect])
    return statement.sql, statement.bind(values)


async def explain(ox: Oxpull, name: str, values: dict[str, Scalar], *, generic: bool = False) -> Plan:
    """Explain a statement of `sql/`; `generic` has PostgreSQL plan it without looking at the values."""
    return await explain_text(ox, *compiled(ox, name, values), generic=generic)


async def explain_text(ox: Oxpull, sql: str, bound: Sequence[Scalar] = (), *, generic: bool = False) -> Plan:
    """Explain any SQL."""
    async with ox.transaction() as tx:
        match ox.database.dialect.name:
            case "postgres":
                return _read_postgres(await postgres_plan(tx, sql, bound, generic=generic))
            case "mysql":
                return _read_mysql(await tx.fetch(f"EXPLAIN {sql}", *bound))
            case _:
                return _read_sqlite(await tx.fetch(f"EXPLAIN QUERY PLAN {sql}", *bound))


async def postgres_plan(
    tx: Transaction, sql: str, bound: Sequence[Scalar], *, generic: bool = False, options: str = ""
) -> dict[str, Any]:
    """Have PostgreSQL explain a prepared statement; the option ANALYZE has it run as well."""
    mode = "force_generic_plan" if generic else "force_custom_plan"
    await tx.execute(f"SET LOCAL plan_cache_mode = {mode}")
    await tx.execute(f"PREPARE explained AS {sql}")
    call = f"EXECUTE explained({', '.join(map(literal, bound))})" if bound else "EXECUTE explained"
    [[text]] = await tx.fetch(f"EXPLAIN (FORMAT JSON{options}) {call}")
    await tx.execute("DEALLOCATE explained")
    plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    return plan


def _read_postgres(plan: dict[str, Any]) -> Plan:
    found = list(nodes(plan))
    return Plan(
        indexes=_names(node["Index Name"] for node in found if node.get("Index Name", "").startswith(TABLE)),
        scans=tuple(node["Node Type"] for node in found if _reads_all(node)),
        sorts=tuple(node["Node Type"] for node in found if "Sort" in node["Node Type"] and _sorts_table(node)),
        text=json.dumps(plan, indent=1),
    )


def literal(value: Scalar) -> str:
    """Spell a value in SQL; the tests have only plain ones."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Walk a plan of PostgreSQL's."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def _reads_all(node: dict[str, Any]) -> bool:
    """Whether a node reads every row of the table, by itself or through the index that holds them all."""
    through_all = node.get("Index Name") in PRIMARY_NAMES and "Index Cond" not in node
    return node.get("Relation Name") == TABLE and (node["Node Type"] == "Seq Scan" or through_all)


def _sorts_table(node: dict[str, Any]) -> bool:
    """Whether rows of the table reach a sort other than counted, through a LIMIT or by their primary keys."""
    return any(
        child["Node Type"] not in {"Limit", "Aggregate"} and (_reads_by_other_key(child) or _sorts_table(child))
        for child in node.get("Plans", ())
    )


def _reads_by_other_key(node: dict[str, Any]) -> bool:
    if node.get("Relation Name") != TABLE:
        return False
    return not {found.get("Index Name") for found in nodes(node)} & PRIMARY_NAMES


def _read_mysql(rows: list[Any]) -> Plan:
    ours = [row for row in rows if row[2] in {"t", "d", TABLE} and (row[5] or row[3])]
    return Plan(
        indexes=_names(str(row[5]) for row in ours if row[5]),
        scans=tuple(f"{row[2]}: {row[3]}" for row in ours if row[3] == "ALL"),
        sorts=tuple(str(row[-1]) for row in ours if re.search("filesort|temporary", str(row[-1]))),
        text="\n".join(map(str, rows)),
    )


def _read_sqlite(rows: list[Any]) -> Plan:
    details = [str(row[3]) for row in rows]
    used = (re.search(r"USING (?:COVERING )?INDEX (\w+)", detail) for detail in details)
    return Plan(
        indexes=_names(match[1] for match in used if match and TABLE in match[1]),
        scans=tuple(detail for detail in details if re.match(r"SCAN (t|d|best|oxpull_task)\b(?! USING)", detail)),
        sorts=tuple(detail for detail in details if "TEMP B-TREE" in detail),
        text="\n".join(details),
    )


def _names(names: Iterator[str]) -> frozenset[str]:
    """Call the primary key's index the same everywhere."""
    return frozenset("primary" if name in PRIMARY_NAMES else name for name in names)
