"""Django tasks for batches: a member that may fail, and callbacks that take their batch."""

from typing import Any

from django.tasks import task

from compat_sync import batches
from oxpull_async import BatchInfo
from tests.compat.shop import ours

TOLD: list[tuple[str, Any]] = []


@ours
@task
def told(title: str, *, shout: bool = False) -> None:
    """Note that it was told."""
    TOLD.append((title, shout))


@ours
@task(takes_batch=True, queue_name="mail", priority=7)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def report(batch: BatchInfo, title: str) -> None:
    """Note the batch."""
    TOLD.append((title, batch))


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def broken() -> None:
    """Fail."""
    raise ValueError("no")


@ours
@task(takes_batch=True)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
async def fan_out(batch: BatchInfo, count: int) -> None:
    """Add members to its own batch and seal it."""
    own = await batches.aget(batch.id)
    await own.aadd_many(told, [([str(number)], {}) for number in range(count)])
    await own.aseal()
