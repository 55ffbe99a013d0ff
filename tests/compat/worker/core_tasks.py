"""Tasks made by the core's decorator, on an Oxpull that no worker here serves."""

from oxpull_async import Oxpull, TaskContext
from tests.compat.worker.tasks import here

ox = Oxpull("sqlite:///unused.db")


@ox.task
async def double(number: int) -> int:
    """Double a number."""
    return number * 2


@ox.task(takes_context=True)
def vendor(context: TaskContext) -> list[str | int]:
    """Tell the database that Django's ORM reaches here, and the attempt."""
    return [here().vendor, context.attempt]


def no_task() -> None:
    """Do nothing: not every function is a task."""
