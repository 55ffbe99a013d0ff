"""What a workload is, and what it is given to work with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from oxpull_async import Oxpull, Task
from tests.fixtures import raw

APP = "benchmarks.app"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured, and how often."""

    repeats: int = 5
    single: int = 2_000
    callers: int = 50
    bulk: int = 10_000
    drained: int = 20_000
    pick_ups: int = 200
    other_rows: int = 1_000_000
    claims: int = 20
    naps: int = 5_000
    flowing: int = 200_000
    locked: int = 20_000
    nodes: int = 2_000
    idle_seconds: float = 60.0

    @classmethod
    def quick(cls) -> "Scale":
        """Give a tenth of it, for a first look."""
        return cls(3, 300, 50, 2_000, 4_000, 30, 10_000, 10, 1_000, 20_000, 2_000, 200, 10.0)


@dataclass(frozen=True, slots=True)
class Bench:
    """A database that holds no tasks, open and migrated."""

    ox: Oxpull
    url: str
    scale: Scale

    @property
    def task(self) -> Task[..., object]:
        """Name the task that does nothing."""
        return self.named("nothing")

    def named(self, name: str) -> Task[..., object]:
        """Name a task of `benchmarks.app`."""
        return self.ox.remote(f"{APP}.{name}")

    async def empty(self) -> None:
        """Remove everything that the benchmark has stored."""
        async with self.ox.database.connection() as conn:
            await raw.empty(conn)


@dataclass(frozen=True, slots=True)
class Workload:
    """Something to measure; `run` gives one sample and starts on an empty database each time."""

    name: str
    unit: str
    run: Callable[[Bench], Awaitable[float]]
