"""What the benchmarks' workers run."""

from oxpull_async import Oxpull

ox = Oxpull()


@ox.task
async def nothing(number: int) -> None:
    pass
