"""Stored schedules and their ticks as the ORM reads them; `models` names them for Django."""

from datetime import datetime
from uuid import UUID

from django.db import models

from compat_sync.columns import StoredJSONField
from compat_sync.managers import ReadQuerySet, manager_of
from compat_sync.read_model import ReadModel

__all__ = ["OxpullSchedule", "OxpullTick"]

type _Id = models.UUIDField[UUID, UUID]
type _MaybeId = models.UUIDField[UUID | None, UUID | None]
type _Text = models.CharField[str, str]
type _MaybeText = models.CharField[str | None, str | None]
type _MaybeSmall = models.SmallIntegerField[int | None, int | None]
type _Big = models.BigIntegerField[int, int]
type _Flag = models.BooleanField[bool, bool]
type _Real = models.FloatField[float, float]
type _MaybeReal = models.FloatField[float | None, float | None]
type _Instant = models.DateTimeField[datetime, datetime]
type _MaybeInstant = models.DateTimeField[datetime | None, datetime | None]


class OxpullSchedule(ReadModel):
    """A schedule, stored or declared; written through `compat_sync.schedules`."""

    id: _Id = models.UUIDField(primary_key=True)
    backend_alias: _Text = models.CharField(max_length=128)
    name: _Text = models.CharField(max_length=128)
    declared: _Flag = models.BooleanField()
    cron: _MaybeText = models.CharField(max_length=128, null=True)  # noqa: DJ001 - the core's column
    every: _MaybeReal = models.FloatField(null=True)
    phase: _Real = models.FloatField()
    tz: _Text = models.CharField("time zone", max_length=64)
    repeated_hour: _Text = models.CharField(max_length=8)
    catch_up: _Text = models.CharField(max_length=8)
    max_age: _MaybeReal = models.FloatField(null=True)
    overlap: _Text = models.CharField(max_length=8)
    task_path: _Text = models.CharField("task", max_length=255)
    args = StoredJSONField()
    kwargs = StoredJSONField()
    queue_name: _MaybeText = models.CharField("queue", max_length=128, null=True)  # noqa: DJ001 - the core's column
    priority: _MaybeSmall = models.SmallIntegerField(null=True)
    paused: _Flag = models.BooleanField()
    starts_at: _Instant = models.DateTimeField()
    ends_at: _MaybeInstant = models.DateTimeField(null=True)
    last_tick_at: _MaybeInstant = models.DateTimeField("last tick", null=True)
    next_at: _MaybeInstant = models.DateTimeField("next tick", null=True)
    last_task_id: _MaybeId = models.UUIDField("last task", null=True)
    version: _Big = models.BigIntegerField()
    created_at: _Instant = models.DateTimeField()
    changed_at: _Instant = models.DateTimeField()

    objects = manager_of(ReadQuerySet["OxpullSchedule"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_schedule"
        base_manager_name = "objects"
        ordering = ("backend_alias", "name")
        verbose_name = "schedule"
        verbose_name_plural = "schedules"

    def __str__(self) -> str:
        """Name the schedule."""
        return self.name


class OxpullTick(ReadModel):
    """A tick of a schedule that was settled, and the task that it led to."""

    pk = models.CompositePrimaryKey("backend_alias", "name", "tick_at")
    backend_alias: _Text = models.CharField(max_length=128)
    name: _Text = models.CharField(max_length=128)
    tick_at: _Instant = models.DateTimeField()
    task_id: _MaybeId = models.UUIDField(null=True)
    created_at: _Instant = models.DateTimeField()

    objects = manager_of(ReadQuerySet["OxpullTick"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_tick"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("backend_alias", "name", "tick_at")
        verbose_name = "tick"
        verbose_name_plural = "ticks"

    def __str__(self) -> str:
        """Name the schedule and the instant."""
        return f"{self.name} {self.tick_at:%Y-%m-%d %H:%M:%S}"
