"""Tasks of a shop, declared in ways that every supported Django knows."""

from django.tasks import task

from compat_sync.tasks import PolicyTask
from compat_sync.unique import unique
from oxpull_async import Unique


def ours(task: object) -> PolicyTask:
    """Tell the type checker what the decorator returns where OxpullBackend is the backend."""
    assert isinstance(task, PolicyTask)
    return task


@ours
@unique
@task
def charge(_order: object) -> None:
    """Charge an order, once while that is pending."""


@ours
@task
def send_invoice(_order: object) -> None:
    """Send an invoice."""


@ours
@task
def remind(_order: object) -> None:
    """Remind a customer; a second reminder is refused."""


remind = remind.using(unique=Unique(on_duplicate="raise"))
