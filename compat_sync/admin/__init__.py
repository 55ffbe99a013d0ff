"""The pages of Django's admin: tasks, queues, workers, batches, unique keys, running locks.

Nothing here saves a row: pages read, and what changes tasks goes through `compat_sync.actions`.
"""

from compat_sync.admin.batches import BatchAdmin
from compat_sync.admin.keys import LockAdmin, UniqueKeyAdmin
from compat_sync.admin.tasks import TaskAdmin
from compat_sync.admin.workers import WorkerAdmin

__all__ = ["BatchAdmin", "LockAdmin", "TaskAdmin", "UniqueKeyAdmin", "WorkerAdmin"]
