"""Run a statement, take it back, and count how much of the tables it read."""

from collections.abc import Sequence

from oxpull_async import Oxpull
from oxpull_async.app.transactions import Transaction
from oxpull_async.db.contract import Scalar
from tests.app.kit import rolled_back
from tests.plans.explain import compiled, nodes, postgres_plan

# What reading one row costs in the unit that each database counts: rows, handler calls, steps of its virtual machine.
COST = {"postgres": 1, "mysql": 2, "sqlite": 25}
STEPS_PER_CALL = 50


async def touched(ox: Oxpull, name: str, values: dict[str, Scalar]) -> int:
    """Run a statement of `sql/` and count, in the unit of its database."""
    return await touched_by_text(ox, *compiled(ox, name, values))


async def touched_by_text(ox: Oxpull, sql: str, bound: Sequence[Scalar] = ()) -> int:
    """Run any SQL and count, in the unit of its database."""
    count = {"postgres": _rows, "mysql": _handler_calls, "sqlite": _steps}[ox.database.dialect.name]
    found: list[int] = []
    async with rolled_back(ox.transaction()) as tx:
        found.append(await count(tx, sql, bound))
    return found[0]


async def _rows(tx: Transaction, sql: str, bound: Sequence[Scalar]) -> int:
    plan = await postgres_plan(tx, sql, bound, options=", ANALYZE, TIMING off")
    return sum(
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node in nodes(plan)
        if node.get("Relation Name", "").startswith("oxpull_") and "Scan" in node["Node Type"]
    )


async def _handler_calls(tx: Transaction, sql: str, bound: Sequence[Scalar]) -> int:
    before = await _handler_reads(tx)
    await tx.fetch(sql, *bound)
    return await _handler_reads(tx) - before


async def _handler_reads(tx: Transaction) -> int:
    rows = await tx.fetch("SHOW SESSION STATUS LIKE 'Handler_read%'")
    return sum(int(row[1]) for row in rows)


async def _steps(tx: Transaction, sql: str, bound: Sequence[Scalar]) -> int:
    calls: list[None] = []
    await tx.connection.set_progress_handler(lambda: calls.append(None), STEPS_PER_CALL)
    await tx.fetch(sql, *bound)
    await tx.connection.set_progress_handler(None, 0)
    return len(calls) * STEPS_PER_CALL
