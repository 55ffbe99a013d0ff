"""Who runs beside oxpull-async: programs of `benchmarks/peers`, what each is installed from, and its settings.

The settings are those which the project documents, or the best that a search over its options found.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

type Store = Literal["postgres", "sqlite", "mysql", "redis"]
type Kind = Literal["ended", "later"]

PROGRAMS = Path(__file__).parent / "peers"
OURS, RAW = "oxpull-async", "raw SQL"
WORKLOADS: dict[str, str] = {
    "enqueue, one caller": "tasks/s",
    "enqueue, 50 callers": "tasks/s",
    "bulk": "tasks/s",
    "unique, fresh keys": "tasks/s",
    "unique, duplicates": "tasks/s",
    "drain, 1 process": "tasks/s",
    "drain, 2 processes": "tasks/s",
    "naps": "tasks/s",
    "pick-up": "ms",
    "flow beside a held snapshot": "of the first tenth",
    "drain beside ended tasks": "of an empty table's",
    "drain beside scheduled tasks": "of an empty table's",
    "drain beside more urgent scheduled tasks": "of an empty table's",
    "idle worker": "",
}
"""What is measured of all of them, with its unit.

`bulk` is one call, `naps` are bodies that sleep for 100 ms, the flow's figure is the last tenth's rate.
"""
SNAPSHOT, IDLE = "flow beside a held snapshot", "idle worker"
BESIDE: dict[str, tuple[Kind, int]] = {
    "drain beside ended tasks": ("ended", 0),
    "drain beside scheduled tasks": ("later", 0),
    "drain beside more urgent scheduled tasks": ("later", 10),
}
"""Which rows stand in the table besides the work, and their priority where the work's is 0."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program to measure: where it keeps its tasks, what it needs, its settings; for some workloads other ones.

    Without requirements it runs in this very environment.
    """

    name: str
    program: str
    store: Store
    requirements: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: str = ""
    """What is added to its database's URL."""
    share: float = 1.0
    """How much of a backlog it gets, where it needs minutes for the whole."""
    crawls: bool = False
    """Whether it runs a few tasks a second beside many that are not due."""

    def settings_for(self, workload: str) -> dict[str, Any]:
        return self.settings | self.changed.get(workload, {})

    def share_beside(self, kind: Kind) -> float:
        """Return how much of a backlog it gets beside many rows of a kind."""
        return self.share * (0.02 if self.crawls and kind == "later" else 1.0)

    def statement(self, kind: Kind) -> str | None:
        """Return the statement that fills its table: `$1` rows of priority `$2`."""
        name = self.program.removeprefix("with_").removesuffix(".py")
        path = PROGRAMS / "others" / f"{name}_{kind}.sql"
        return path.read_text(encoding="utf-8") if self.store == "postgres" and path.exists() else None


_DJANGO = ("django>=6", "psycopg[binary,pool]>=3.2")
_PSYCOPG = ("psycopg[binary,pool]>=3.2", "uvloop")
_HUEY = ("huey", "redis", "psycopg[binary]")
_HUEY_ONE: dict[str, Any] = {"concurrency": 1, "poll": 0.1}
_HUEY_CHANGED: dict[str, dict[str, Any]] = {"naps": {"concurrency": 90}, "pick-up": {"poll": 0.05}}
_OURS: dict[str, Any] = {"concurrency": 2000}
_OURS_CHANGED: dict[str, dict[str, Any]] = {"naps": {"concurrency": 5000}, "pick-up": {"concurrency": 100}}
_OX = {"arguments": ["--concurrency=4"]}

CONTESTANTS: tuple[Contestant, ...] = (
    Contestant(OURS, "with_oxpull.py", "postgres", settings=_OURS, changed=_OURS_CHANGED),
    Contestant(
        RAW, "with_raw.py", "postgres", settings={"pool": 10, "batch": 1000, "notify": False},
        changed={"pick-up": {"notify": True}},
    ),
    Contestant(
        "pgqueuer", "with_pgqueuer.py", "postgres", ("pgqueuer[asyncpg]", "uvloop"), {"pool": 10, "batch": 1000},
        {"pick-up": {"batch": 10}},
    ),
    Contestant(
        "procrastinate", "with_procrastinate.py", "postgres", ("procrastinate", *_PSYCOPG),
        {"pool": 20, "concurrency": 20}, {"naps": {"concurrency": 5000}}, share=0.25, crawls=True,
    ),
    Contestant(
        "chancy", "with_chancy.py", "postgres", ("chancy", *_PSYCOPG), {"pool": 10, "concurrency": 1000, "poll": 5},
        {"naps": {"concurrency": 5000}, "pick-up": {"concurrency": 100, "poll": 1}},
    ),
    Contestant(
        "oban", "with_oban.py", "postgres", ("oban", *_PSYCOPG), {"pool": 10, "concurrency": 500},
        {"naps": {"concurrency": 5000}, "pick-up": {"concurrency": 100}},
    ),
    Contestant(
        "django-ox", "with_django_ox.py", "postgres", ("django-ox>=1.9", *_DJANGO), _OX,
        {
            "naps": {"arguments": ["--concurrency=90"]},
            "pick-up": {"arguments": ["--concurrency=1", "--interval=0.05"]},
        },
        share=0.25, crawls=True,
    ),
    Contestant(
        "django-tasks-db", "with_django_tasks_db.py", "postgres", ("django-tasks-db", *_DJANGO), {"arguments": []},
        {"pick-up": {"arguments": ["--interval=0.05"]}}, share=0.1,
    ),
    Contestant("huey", "with_huey.py", "postgres", _HUEY, _HUEY_ONE, _HUEY_CHANGED, share=0.5),
    Contestant("SAQ (Redis)", "with_saq.py", "redis", ("saq[redis,hiredis]", "typing_extensions", "uvloop"),
               {"concurrency": 100}, {"naps": {"concurrency": 5000}}),
    Contestant("huey (Redis)", "with_huey.py", "redis", _HUEY, _HUEY_ONE | {"concurrency": 4}, _HUEY_CHANGED),
    Contestant(OURS, "with_oxpull.py", "sqlite", settings=_OURS, changed=_OURS_CHANGED),
    Contestant(f"{OURS} NORMAL", "with_oxpull.py", "sqlite", settings=_OURS, changed=_OURS_CHANGED,
               options="?synchronous=normal"),
    Contestant(RAW, "with_raw_sqlite.py", "sqlite", settings={"batch": 500}),
    Contestant("huey", "with_huey.py", "sqlite", _HUEY, _HUEY_ONE, _HUEY_CHANGED),
    Contestant(OURS, "with_oxpull.py", "mysql", settings=_OURS, changed=_OURS_CHANGED),
    Contestant(RAW, "with_raw_mariadb.py", "mysql", settings={"batch": 500, "pool": 10}),
)  # fmt: skip


def measured_on(store: Store) -> list[str]:
    """List the workloads that are measured beside a database."""
    return [name for name in WORKLOADS if store == "postgres" or name not in (SNAPSHOT, IDLE, *BESIDE)]


def beside(store: Store) -> list[Contestant]:
    """List who runs on a database, ours first; Redis stands beside PostgreSQL."""
    stores = {store, "redis"} if store == "postgres" else {store}
    return [contestant for contestant in CONTESTANTS if contestant.store in stores]
