"""The pages of Django's admin: tasks and what belongs to them, queues, schedules, workers.

Nothing here saves a row: pages read, and what changes tasks goes through `compat_sync.actions`, schedules
through `compat_sync.schedules`.
"""

from compat_sync.admin.batches import BatchAdmin
from compat_sync.admin.keys import LockAdmin, UniqueKeyAdmin
from compat_sync.admin.schedules import ScheduleAdmin
from compat_sync.admin.tasks import TaskAdmin
from compat_sync.admin.workers import WorkerAdmin
from compat_sync.admin.workflows import WorkflowAdmin

__all__ = ["BatchAdmin", "LockAdmin", "ScheduleAdmin", "TaskAdmin", "UniqueKeyAdmin", "WorkerAdmin", "WorkflowAdmin"]
