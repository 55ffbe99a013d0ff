"""The checker of rate limits: every start as a trigger of the database copies it, whatever the claim counts."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from oxpull_async import Oxpull
from oxpull_async.domain.rate_windows import Limit, Room, Window, room
from oxpull_async.domain.record import TaskId, instant, task_id
from tests.scenarios.looks import read
from tests.scenarios.slots import INSTANT

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
BEGUN = "begun"
EVERYBODY = 1_000_000
_STARTS = "NEW.status = 'RUNNING' AND NEW.epoch <> OLD.epoch"
_RETURNS = (
    "OLD.status = 'RUNNING' AND NEW.status = 'READY' AND NEW.attempts < OLD.attempts AND NEW.refunds = OLD.refunds"
)
_START = "'start', NEW.id, NEW.epoch, NEW.last_attempted_at"
_RETURN = "'return', OLD.id, OLD.epoch, OLD.last_attempted_at"
TRIGGERS = {
    "postgres": (
        f"""CREATE FUNCTION test_note_start() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF {_STARTS} THEN INSERT INTO test_start VALUES ({_START});
            ELSIF {_RETURNS} THEN INSERT INTO test_start VALUES ({_RETURN}); END IF; RETURN NULL; END $$""",
        "CREATE TRIGGER test_start AFTER UPDATE ON oxpull_task FOR EACH ROW EXECUTE FUNCTION test_note_start()",
    ),
    "mysql": (
        f"""CREATE TRIGGER test_start AFTER UPDATE ON oxpull_task FOR EACH ROW
            INSERT INTO test_start SELECT {_START} FROM DUAL WHERE {_STARTS}""",
        f"""CREATE TRIGGER test_return AFTER UPDATE ON oxpull_task FOR EACH ROW
            INSERT INTO test_start SELECT {_RETURN} FROM DUAL WHERE {_RETURNS}""",
    ),
    "sqlite": (
        f"""CREATE TRIGGER test_start AFTER UPDATE ON oxpull_task WHEN {_STARTS}
            BEGIN INSERT INTO test_start VALUES ({_START}); END""",
        f"""CREATE TRIGGER test_return AFTER UPDATE ON oxpull_task WHEN {_RETURNS}
            BEGIN INSERT INTO test_start VALUES ({_RETURN}); END""",
    ),
}
GONE = {
    "postgres": ("DROP TRIGGER test_start ON oxpull_task", "DROP FUNCTION test_note_start()"),
    "mysql": ("DROP TRIGGER test_start", "DROP TRIGGER test_return"),
    "sqlite": ("DROP TRIGGER test_start", "DROP TRIGGER test_return"),
}
ID = {"postgres": "uuid", "mysql": "char(36)", "sqlite": "char(32)"}


@dataclass(frozen=True, slots=True)
class Start:
    """One attempt that was admitted, and when, in microseconds since 1970 by the database's clock."""

    task_id: TaskId
    epoch: int
    at: int

    @property
    def name(self) -> str:
        """How the body of this attempt notes itself in the ledger."""
        return f"{self.task_id}:{self.epoch}"


@dataclass(frozen=True, slots=True)
class Starts:
    """What was started and kept its permit, and what its worker handed back before it began."""

    kept: tuple[Start, ...]
    returned: tuple[Start, ...]


@asynccontextmanager
async def copying_starts(ox: Oxpull) -> AsyncIterator[None]:
    """Have the database itself copy every start, and every attempt that a living worker gave back, for the block."""
    dialect = ox.database.dialect.name
    async with ox.database.connection() as conn:
        await conn.run_script("DROP TABLE IF EXISTS test_start")
        await conn.run_script(
            f"CREATE TABLE test_start (kind varchar(8) NOT NULL, task_id {ID[dialect]} NOT NULL,"
            f" epoch bigint NOT NULL, at {INSTANT[dialect]} NOT NULL)"
        )
        for statement in TRIGGERS[dialect]:
            await conn.run_script(statement)
    try:
        yield
    finally:
        async with ox.database.connection() as conn:
            for statement in (*GONE[dialect], "DROP TABLE test_start"):
                await conn.run_script(statement)


async def copied_starts(ox: Oxpull) -> Starts:
    """Read the copies, in the order of their instants."""
    async with ox.database.connection() as conn:
        rows = await read(conn, "SELECT kind, task_id, epoch, at FROM test_start")
    started = [Start(task_id(row[1]), row[2], micros(instant(row[3]))) for row in rows if row[0] == "start"]
    returned = {(task_id(row[1]), row[2]) for row in rows if row[0] == "return"}
    in_order = sorted(started, key=lambda start: start.at)
    return Starts(
        tuple(start for start in in_order if (start.task_id, start.epoch) not in returned),
        tuple(start for start in in_order if (start.task_id, start.epoch) in returned),
    )


def micros(at: datetime) -> int:
    """Count the microseconds since 1970."""
    return (at - EPOCH) // MICROSECOND


def most_in_a_window(instants: Iterable[int], per: int) -> int:
    """Count how many instants lie in one window at most; windows begin at multiples of `per` since 1970."""
    return max(Counter(at // per for at in instants).values(), default=0)


def most_in_an_interval(instants: Iterable[int], per: int) -> int:
    """Count how many instants lie in (t - per, t] at most, whatever t."""
    most, first = 0, 0
    known = sorted(instants)
    for last, at in enumerate(known):
        while known[first] <= at - per:
            first += 1
        most = max(most, last - first + 1)
    return most


@dataclass(frozen=True, slots=True)
class Allowed:
    """A rate limit as the checker sees it; `per` is in microseconds."""

    limit: int
    per: int
    sliding: bool

    def most(self, instants: Iterable[int]) -> int:
        """Count how many of these instants the limit has to answer for at once at most."""
        return (most_in_an_interval if self.sliding else most_in_a_window)(instants, self.per)

    def check(self, starts: Sequence[Start]) -> None:
        """Fail where more was started than is allowed."""
        most = self.most(start.at for start in starts)
        where = "interval of that length" if self.sliding else "window"
        assert most <= self.limit, f"rate limit exceeded: {most} starts in one {where}, {self.limit} are allowed"

    def share(self, starts: Sequence[Start]) -> float:
        """Say which share of what was allowed the starts used, from the first to the last."""
        first, last = starts[0].at, starts[-1].at
        if self.sliding:
            return (len(starts) - self.limit) * self.per / (self.limit * (last - first))
        return len(starts) / (self.limit * (last // self.per - first // self.per + 1))


def room_for_everybody(limit: Limit, window: Window) -> Room:
    """Find room whatever has started, as a claim without limits would."""
    return replace(room(limit, window), left=EVERYBODY, opens_at=None)


def begun(noted: Iterable[str]) -> dict[str, int]:
    """Read from the ledger when each attempt's body began, in microseconds since 1970."""
    parts = [key.rpartition(":") for key in noted]
    return {name: int(nanoseconds) // 1000 for name, _, nanoseconds in parts}


def check_bodies(bodies: dict[str, int], starts: Starts, allowed: Allowed, late: int) -> int:
    """Fail where bodies ran that nobody admitted, or more at once than starts that are `late` microseconds old explain.

    Returns the longest time from a start to its body's first line.
    """
    admitted = {start.name: start.at for start in starts.kept}
    strangers = bodies.keys() - admitted.keys()
    assert not strangers, f"{len(strangers)} bodies ran without a permit: {sorted(strangers)[:5]}"
    if allowed.sliding:
        most = most_in_an_interval(bodies.values(), allowed.per - late)
    else:
        most = most_in_a_window((at for at in bodies.values() if at % allowed.per >= late), allowed.per)
    assert most <= allowed.limit, f"{most} bodies began where {allowed.limit} may, {late} microseconds apart"
    return max((at - admitted[name] for name, at in bodies.items()), default=0)
