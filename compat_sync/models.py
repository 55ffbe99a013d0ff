"""The stored rows as Django's ORM reads them.

The tables belong to `oxpull_async/sql/<dialect>/schema/`. These are read models: whatever would write is refused,
since the core's statements keep leases, locks and unique keys in step with the rows. Enqueue tasks, and use
`compat_sync.actions` on stored ones.
"""

from datetime import datetime
from uuid import UUID

from django.db import models

from compat_sync.columns import StoredJSONField
from compat_sync.exceptions import BatchDoesNotExist, WorkflowDoesNotExist
from compat_sync.managers import ReadQuerySet, TaskQuerySet, WorkerQuerySet, manager_of
from compat_sync.rate_limit_models import OxpullRateLimit, OxpullRateStart, OxpullRateWindow
from compat_sync.read_model import ReadModel
from compat_sync.schedule_models import OxpullSchedule, OxpullTick
from compat_sync.workflow_models import OxpullWorkflow, OxpullWorkflowCounts, OxpullWorkflowEdge, OxpullWorkflowNode
from oxpull_async.domain.batch import BatchStatus
from oxpull_async.domain.record import TaskStatus

__all__ = [
    "OxpullBatch",
    "OxpullBatchCounts",
    "OxpullBatchMember",
    "OxpullLock",
    "OxpullQueue",
    "OxpullRateLimit",
    "OxpullRateStart",
    "OxpullRateWindow",
    "OxpullSchedule",
    "OxpullTask",
    "OxpullTick",
    "OxpullUniqueKey",
    "OxpullWorker",
    "OxpullWorkflow",
    "OxpullWorkflowCounts",
    "OxpullWorkflowEdge",
    "OxpullWorkflowNode",
    "ReadModel",
]

type _Id = models.UUIDField[UUID, UUID]
type _MaybeId = models.UUIDField[UUID | None, UUID | None]
type _Text = models.CharField[str, str]
type _MaybeText = models.CharField[str | None, str | None]
type _Small = models.SmallIntegerField[int, int]
type _MaybeSmall = models.SmallIntegerField[int | None, int | None]
type _Whole = models.IntegerField[int, int]
type _MaybeWhole = models.IntegerField[int | None, int | None]
type _Big = models.BigIntegerField[int, int]
type _Flag = models.BooleanField[bool, bool]
type _MaybeReal = models.FloatField[float | None, float | None]
type _Instant = models.DateTimeField[datetime, datetime]
type _MaybeInstant = models.DateTimeField[datetime | None, datetime | None]

BATCH_STATUSES = [(status.value, status.value.capitalize()) for status in BatchStatus]
STATUSES = [(status.value, status.value.capitalize()) for status in TaskStatus]


class OxpullTask(ReadModel):
    """One enqueued task."""

    id: _Id = models.UUIDField(primary_key=True)
    backend_alias: _Text = models.CharField(max_length=128)
    task_path: _Text = models.CharField(max_length=255)
    queue_name: _Text = models.CharField("queue", max_length=128)
    priority: _Small = models.SmallIntegerField()
    rank: _Small = models.SmallIntegerField()
    status: _Text = models.CharField(max_length=12, choices=STATUSES)
    due: _MaybeSmall = models.SmallIntegerField(null=True)
    waiting_for: _MaybeText = models.CharField(max_length=12, null=True)  # noqa: DJ001 - NULL is what the core stores
    args = StoredJSONField()
    kwargs = StoredJSONField()
    run_after: _MaybeInstant = models.DateTimeField(null=True)
    available_at: _Instant = models.DateTimeField()
    enqueued_at: _Instant = models.DateTimeField()
    started_at: _MaybeInstant = models.DateTimeField(null=True)
    last_attempted_at: _MaybeInstant = models.DateTimeField(null=True)
    prior_attempted_at: _MaybeInstant = models.DateTimeField(null=True)
    finished_at: _MaybeInstant = models.DateTimeField(null=True)
    attempts: _Whole = models.IntegerField()
    max_attempts: _Whole = models.IntegerField()
    epoch: _Big = models.BigIntegerField()
    begun: _Flag = models.BooleanField()
    refunds: _Small = models.SmallIntegerField()
    snoozes: _Small = models.SmallIntegerField()
    timeout: _MaybeReal = models.FloatField(null=True)
    leased_by: _MaybeId = models.UUIDField("worker", null=True)
    worker_ids = StoredJSONField()
    errors = StoredJSONField()
    return_value = StoredJSONField(null=True)
    progress = StoredJSONField(null=True)
    cancel_requested: _Flag = models.BooleanField()
    unique_key: _MaybeText = models.CharField(max_length=64, null=True)  # noqa: DJ001
    reruns: _Flag = models.BooleanField()
    recheck: _MaybeSmall = models.SmallIntegerField(null=True)
    lock_key: _MaybeText = models.CharField(max_length=64, null=True)  # noqa: DJ001
    lock_limit: _MaybeWhole = models.IntegerField(null=True)
    lock_conflict: _MaybeText = models.CharField(max_length=8, null=True)  # noqa: DJ001
    limit_keys: _MaybeText = models.CharField(max_length=255, null=True)  # noqa: DJ001
    batch_id: _MaybeId = models.UUIDField("batch", null=True)
    workflow_id: _MaybeId = models.UUIDField("workflow", null=True)

    objects = manager_of(TaskQuerySet["OxpullTask"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_task"
        base_manager_name = "objects"
        default_permissions = ("change", "view")
        ordering = ("-id",)
        verbose_name = "task"
        verbose_name_plural = "tasks"

    def __str__(self) -> str:
        """Name the task and its row."""
        return f"{self.task_path} {self.id} ({self.status})"

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen by itself (a LOST row may still get its late outcome)."""
        return TaskStatus(self.status).is_finished


class OxpullUniqueKey(ReadModel):
    """A unique key, and the task that holds it or held it last."""

    unique_key: _Text = models.CharField(max_length=64, primary_key=True)
    holder_id: _Id = models.UUIDField("holder")
    follow_up_id: _MaybeId = models.UUIDField("follow-up", null=True)
    first_at: _Instant = models.DateTimeField()
    expires_at: _MaybeInstant = models.DateTimeField(null=True)

    objects = manager_of(ReadQuerySet["OxpullUniqueKey"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_unique"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("unique_key",)
        verbose_name = "unique key"
        verbose_name_plural = "unique keys"

    def __str__(self) -> str:
        """Name the key and its holder."""
        return f"{self.unique_key} held by {self.holder_id}"


class OxpullLock(ReadModel):
    """The key of a running lock that some task takes or took; the tasks say who has it."""

    lock_key: _Text = models.CharField(max_length=64, primary_key=True)

    objects = manager_of(ReadQuerySet["OxpullLock"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_lock"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("lock_key",)
        verbose_name = "running lock"
        verbose_name_plural = "running locks"

    def __str__(self) -> str:
        """Name the key."""
        return str(self.lock_key)


class OxpullWorker(ReadModel):
    """A worker process and its lease."""

    id: _Id = models.UUIDField(primary_key=True)
    backend_alias: _Text = models.CharField(max_length=128)
    hostname: _Text = models.CharField(max_length=255)
    pid: _Whole = models.IntegerField("process id")
    queues = StoredJSONField(null=True)
    concurrency: _Whole = models.IntegerField()
    started_at: _Instant = models.DateTimeField()
    renewed_at: _Instant = models.DateTimeField()
    lease_expires_at: _Instant = models.DateTimeField()
    dead: _Flag = models.BooleanField()
    notes = StoredJSONField()

    objects = manager_of(WorkerQuerySet["OxpullWorker"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_worker"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("-id",)
        verbose_name = "worker"
        verbose_name_plural = "workers"

    def __str__(self) -> str:
        """Name the process and its row."""
        return f"{self.hostname}:{self.pid} {self.id}"


class OxpullQueue(ReadModel):
    """What somebody has decided about a queue; a queue that nobody ever paused has no row."""

    pk = models.CompositePrimaryKey("backend_alias", "queue_name")
    backend_alias: _Text = models.CharField(max_length=128)
    queue_name: _Text = models.CharField("queue", max_length=128)
    paused: _Flag = models.BooleanField()
    changed_at: _Instant = models.DateTimeField()

    objects = manager_of(ReadQuerySet["OxpullQueue"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_queue"
        base_manager_name = "objects"
        default_permissions = ("change", "view")
        ordering = ("backend_alias", "queue_name")
        verbose_name = "queue"
        verbose_name_plural = "queues"

    def __str__(self) -> str:
        """Name the queue, and say whether it is paused."""
        return f"{self.queue_name} ({'paused' if self.paused else 'open'})"


class OxpullBatch(ReadModel):
    """A batch: what its maker gave it, and how many members were added."""

    id: _Id = models.UUIDField(primary_key=True)
    backend_alias: _Text = models.CharField(max_length=128)
    name: _Text = models.CharField(max_length=128)
    members: _Whole = models.IntegerField()
    callbacks = StoredJSONField()
    created_at: _Instant = models.DateTimeField()
    expires_at: _MaybeInstant = models.DateTimeField(null=True)
    sealed_at: _MaybeInstant = models.DateTimeField(null=True)

    objects = manager_of(ReadQuerySet["OxpullBatch"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_batch"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("-id",)
        verbose_name = "batch"
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        """Name the batch and its row."""
        return f"{self.name} {self.id}"


OxpullBatch.DoesNotExist = BatchDoesNotExist  # type: ignore[misc] # one class, whoever looks for a batch
OxpullWorkflow.DoesNotExist = WorkflowDoesNotExist  # type: ignore[misc]


class OxpullBatchCounts(ReadModel):
    """How far a batch is: its status, and what its ended members are counted as."""

    batch_id: _Id = models.UUIDField("batch", primary_key=True)
    status: _Text = models.CharField(max_length=8, choices=BATCH_STATUSES)
    total: _MaybeWhole = models.IntegerField(null=True)
    succeeded: _Whole = models.IntegerField()
    failed: _Whole = models.IntegerField()
    unattributed: _Whole = models.IntegerField()
    cancelled: _Flag = models.BooleanField()
    completed_at: _MaybeInstant = models.DateTimeField(null=True)

    objects = manager_of(ReadQuerySet["OxpullBatchCounts"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_batch_counts"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("-batch_id",)
        verbose_name = "batch counts"
        verbose_name_plural = "batch counts"

    def __str__(self) -> str:
        """Name the batch and its status."""
        return f"{self.batch_id} ({self.status})"


class OxpullBatchMember(ReadModel):
    """A task of a batch, and what it is counted as once it has ended."""

    pk = models.CompositePrimaryKey("task_id", "batch_id")
    task_id: _Id = models.UUIDField("task")
    batch_id: _Id = models.UUIDField("batch")
    counted: _MaybeText = models.CharField(max_length=12, null=True)  # noqa: DJ001
    recheck: _MaybeSmall = models.SmallIntegerField(null=True)

    objects = manager_of(ReadQuerySet["OxpullBatchMember"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_batch_member"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("task_id", "batch_id")
        verbose_name = "batch member"
        verbose_name_plural = "batch members"

    def __str__(self) -> str:
        """Name the task and the batch."""
        return f"{self.task_id} of {self.batch_id}"
