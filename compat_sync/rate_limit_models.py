"""Rate limits and what started under them, as the ORM reads them; `models` names them."""

from datetime import datetime
from uuid import UUID

from django.db import models

from compat_sync.columns import StoredJSONField
from compat_sync.managers import ReadQuerySet, manager_of
from compat_sync.read_model import ReadModel

__all__ = ["OxpullRateLimit", "OxpullRateStart", "OxpullRateWindow"]

type _Id = models.UUIDField[UUID, UUID]
type _Text = models.CharField[str, str]
type _Whole = models.IntegerField[int, int]
type _Big = models.BigIntegerField[int, int]
type _Flag = models.BooleanField[bool, bool]
type _Real = models.FloatField[float, float]
type _Instant = models.DateTimeField[datetime, datetime]
type _MaybeInstant = models.DateTimeField[datetime | None, datetime | None]


class OxpullRateLimit(ReadModel):
    """A rate limit as one worker declares it; of all living workers' the strictest holds."""

    pk = models.CompositePrimaryKey("worker_id", "name")
    worker_id: _Id = models.UUIDField("worker")
    name: _Text = models.CharField(max_length=128)
    backend_alias: _Text = models.CharField(max_length=128)
    most: _Whole = models.IntegerField("limit")
    per: _Real = models.FloatField()
    sliding: _Flag = models.BooleanField()
    tasks = StoredJSONField()
    queues = StoredJSONField()

    objects = manager_of(ReadQuerySet["OxpullRateLimit"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_rate_limit"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("name", "worker_id")
        verbose_name = "rate limit"
        verbose_name_plural = "rate limits"

    def __str__(self) -> str:
        """Name the limit and what it allows."""
        return f"{self.name} ({self.most} in {self.per:g} s)"


class OxpullRateWindow(ReadModel):
    """How much of a limit is used in its present window, for each key of one that has keys."""

    pk = models.CompositePrimaryKey("name", "limit_key")
    name: _Text = models.CharField("rate limit", max_length=128)
    limit_key: _Text = models.CharField("key", max_length=16)
    started_at: _Instant = models.DateTimeField()
    used: _Whole = models.IntegerField()
    held_until: _MaybeInstant = models.DateTimeField(null=True)
    expires_at: _Instant = models.DateTimeField()

    objects = manager_of(ReadQuerySet["OxpullRateWindow"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_rate_window"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("name", "limit_key")
        verbose_name = "rate window"
        verbose_name_plural = "rate windows"

    def __str__(self) -> str:
        """Name the limit and the beginning of its window."""
        return f"{self.name} {self.limit_key} {self.started_at:%Y-%m-%d %H:%M:%S}"


class OxpullRateStart(ReadModel):
    """An attempt that started under a sliding limit."""

    pk = models.CompositePrimaryKey("name", "limit_key", "started_at", "task_id")
    name: _Text = models.CharField("rate limit", max_length=128)
    limit_key: _Text = models.CharField("key", max_length=16)
    started_at: _Instant = models.DateTimeField()
    task_id: _Id = models.UUIDField("task")
    epoch: _Big = models.BigIntegerField()
    expires_at: _Instant = models.DateTimeField()

    objects = manager_of(ReadQuerySet["OxpullRateStart"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_rate_start"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("name", "limit_key", "started_at", "task_id")
        verbose_name = "rate-limited start"
        verbose_name_plural = "rate-limited starts"

    def __str__(self) -> str:
        """Name the limit and the task."""
        return f"{self.name} {self.task_id}"
