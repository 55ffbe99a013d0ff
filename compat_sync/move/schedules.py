"""Moving the stored schedules of django-ox, and where those of the settings had got to."""

import json
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import uuid_utils
from django.core.exceptions import ImproperlyConfigured, ValidationError

from compat_sync.connection import DjangoConnection
from compat_sync.move.carrier import LOCKED
from compat_sync.move.dry_run import DryRun
from compat_sync.move.report import MoveReport, MoveRequest
from compat_sync.operations import backend_of, our_aliases
from compat_sync.registry import kinds
from compat_sync.repeating import repeat_blocking
from compat_sync.schedules import create_schedule
from oxpull_async.db.contract import Row
from oxpull_async.domain.errors import Contended, DataRefused
from oxpull_async.domain.record import instant, instant_or_none
from oxpull_async.domain.schedule import NewSchedule
from oxpull_async.store.schedules import list_schedules, store_schedule

__all__ = ["ScheduleMover"]

BEFORE = timedelta(microseconds=1)


class ScheduleMover:
    """Moves schedules one by one; none of them ticks twice for one instant."""

    def __init__(self, conn: DjangoConnection, request: MoveRequest, report: MoveReport) -> None:
        self._conn = conn
        self._request = request
        self._report = report

    async def run(self) -> None:
        """Move the stored schedules, then note where those of the settings had got to."""
        after = None
        while found := await self._conn.fetch("move_schedules", after=after, limit=self._request.batch_size):
            for id_, name in found:
                await self._move(id_, name)
            after = found[-1][0]
        for alias in our_aliases():
            if not self._request.dry_run:
                await repeat_blocking(self._conn, partial(self._continue, alias), on=(Contended,))

    async def _move(self, id_: int, name: str) -> None:
        left = self._report.left_schedules
        try:
            await repeat_blocking(self._conn, partial(self._attempt, id_), on=(Contended,))
            self._report.schedules += 1
        except ValidationError as refused:
            left[name] = " ".join(refused.messages).rstrip(".")
        except (ImproperlyConfigured, DataRefused, LookupError) as refused:
            left[name] = str(refused)

    async def _attempt(self, id_: int) -> None:
        with suppress(DryRun):
            async with self._conn.transaction():
                row = await self._conn.fetchrow("move_lock_schedule", id=id_)
                if row is None:
                    raise LookupError(LOCKED)
                self._store(row, await self._newest_tick(f"db:{id_}"))
                await self._conn.execute("move_forget_schedule", id=id_)
                if self._request.dry_run:
                    raise DryRun

    def _store(self, row: Row, newest: datetime | None) -> None:
        """Store a schedule here that goes on after the last tick there."""
        kind = kinds().get(row[1])
        if kind is None:
            raise LookupError(
                f"no task is schedulable here as {row[1]!r}: register it, or name it in SCHEDULABLE_TASKS"
            )
        backend = kind.task.backend
        start = instant(row[8]) - BEFORE
        fields: dict[str, Any] = {
            "name": row[0], "task_key": row[1], "trigger": row[2], "arguments": json.loads(row[6]),
            "enabled": bool(row[7]), "start_time": start if newest is None else max(start, newest),
            "end_time": instant_or_none(row[9]), "starting_deadline_seconds": row[10],
        }  # fmt: skip
        timing = {"cron": row[3]} if row[2] == "cron" else {"every_seconds": row[4], "phase_seconds": row[5]}
        create_schedule(backend=backend, **fields, **timing)

    async def _continue(self, alias: str) -> None:
        """Let the schedules of the settings go on after their last ticks there, unless a worker here has seen them."""
        ox = backend_of(alias).ox
        known = {schedule.name for schedule in await list_schedules(self._conn, alias)}
        for name, one in ox.schedules.items():
            newest = None if name in known else await self._newest_tick(name)
            if newest is not None:
                id_ = str(uuid_utils.uuid7())
                new = NewSchedule(id_, alias, name, True, one.ticking, one.task_path, starts_at=newest)
                self._report.schedules += await store_schedule(self._conn, new)

    async def _newest_tick(self, name: str) -> datetime | None:
        row = await self._conn.fetchrow("move_newest_tick", name=name)
        return None if row is None else instant_or_none(row[0])
