"""Django tasks of an imaginary shop, declared as a project would."""

from typing import Any

from django.tasks import TaskContext, task

from compat_sync.tasks import PolicyTask
from compat_sync.unique import unique
from oxpull_async import RunningLock, Unique

RAN: list[tuple[Any, ...]] = []


def ours(task: object) -> PolicyTask:
    """Tell the type checker what the decorator returns where OxpullBackend is the backend."""
    assert isinstance(task, PolicyTask)
    return task


@ours
@task
def send_invoice(order_id: int, *, copy: bool = False) -> str:
    """Send an invoice."""
    RAN.append(("send_invoice", order_id, copy))
    return f"invoice {order_id}"


@ours
@unique
@task
def charge(order_id: int) -> None:
    """Charge an order once while it is pending."""
    RAN.append(("charge", order_id))


@ours
@task(unique=Unique(on_duplicate="raise"), queue_name="mail", priority=5, max_attempts=7)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def remind(order_id: int) -> None:
    """Remind a customer."""
    RAN.append(("remind", order_id))


@ours
@task(running_lock=RunningLock(limit=1))  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def rebuild_index(tenant: str) -> None:
    """Rebuild a tenant's index."""
    RAN.append(("rebuild_index", tenant))


@ours
@task
async def fetch(url: str) -> dict[str, str]:
    """Fetch something."""
    RAN.append(("fetch", url))
    return {"url": url}


@ours
@task(takes_context=True)
def attempt_number(context: "TaskContext[Any, Any]") -> int:
    """Tell which attempt this is."""
    return context.attempt


@ours
@task
def fail(text: str) -> None:
    """Raise an error."""
    raise ValueError(text)
