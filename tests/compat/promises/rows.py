"""What workers do to the rows of a site, on its own connection."""

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.domain.outcome import Failed, Succeeded
from oxpull_async.domain.record import TaskStatus
from tests.compat.promises.kit import claimed
from tests.fixtures import make


def finished(alias: str, *, failed: bool = False) -> TaskStatus | None:
    """Let a worker run the task that is due to its end."""
    task = claimed(alias)
    outcome = Failed(make.ERROR, None) if failed else Succeeded("null")
    return run_blocking(make.settled(DjangoConnection(alias), task, outcome))
