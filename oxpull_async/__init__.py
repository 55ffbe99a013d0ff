"""Async tasks whose queue is the database you already have.

PostgreSQL, MySQL, MariaDB or SQLite.
"""

from oxpull_async.app.batches import Batch
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.result import TaskResult
from oxpull_async.app.task import Call, Task
from oxpull_async.app.workflows import Node, Workflow
from oxpull_async.domain.batch import BatchInfo, BatchProgress
from oxpull_async.domain.explanation import Explanation
from oxpull_async.domain.rate_limit import RateLimit
from oxpull_async.domain.record import TaskError, TaskStatus
from oxpull_async.domain.retry import Exponential, Retry, Snooze
from oxpull_async.domain.running_lock import RunningLock
from oxpull_async.domain.unique import Unique
from oxpull_async.domain.workflow import Upstream, WorkflowProgress
from oxpull_async.runtime.context import TaskContext
from oxpull_async.runtime.worker import Worker

__all__ = [
    "Batch",
    "BatchInfo",
    "BatchProgress",
    "Call",
    "Explanation",
    "Exponential",
    "Node",
    "Oxpull",
    "RateLimit",
    "Retry",
    "RunningLock",
    "Snooze",
    "Task",
    "TaskContext",
    "TaskError",
    "TaskResult",
    "TaskStatus",
    "Unique",
    "Upstream",
    "Worker",
    "Workflow",
    "WorkflowProgress",
]
