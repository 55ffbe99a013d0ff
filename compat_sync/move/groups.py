"""Moving batches and workflows: each whole, in one transaction, once no task of it runs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from django.core.exceptions import ImproperlyConfigured

from compat_sync.backend import OxpullBackend
from compat_sync.batches.callbacks import callbacks
from compat_sync.batches.places import home
from compat_sync.connection import DjangoConnection
from compat_sync.move import old_groups, rows
from compat_sync.move.carrier import LOCKED, Carried, Carrier
from compat_sync.move.dry_run import DryRun
from compat_sync.move.old_groups import Kind, OldGroup
from compat_sync.move.report import MoveReport, MoveRequest
from compat_sync.move.rows import Place
from compat_sync.repeating import repeat_blocking
from oxpull_async.domain.batch import Callback
from oxpull_async.domain.errors import Contended, DataRefused, UsageError
from oxpull_async.domain.record import TaskId

__all__ = ["GroupMover", "StaysError"]


class StaysError(Exception):
    """Says why a batch or workflow stays where it is."""


class GroupMover(ABC):
    """Moves what is open of one kind."""

    kind: Kind

    def __init__(self, conn: DjangoConnection, request: MoveRequest, carrier: Carrier, report: MoveReport) -> None:
        self.conn = conn
        self.request = request
        self.carrier = carrier
        self.report = report
        self._taken_back: set[TaskId] = set()

    async def run(self) -> set[TaskId]:
        """Move what it finds; returns the tasks that a dry run has carried over and taken back."""
        bundles = await self.bundles()
        done: set[str] = set()
        after = None
        while found := await old_groups.open_groups(self.conn, self.kind, after, self.request.batch_size):
            for id_, name in found:
                if id_ not in done:
                    bundle = bundles.get(id_, (id_,))
                    done.update(bundle)
                    await self._move(bundle, f"{id_} {name!r}")
            after = found[-1][0]
        return self._taken_back

    async def bundles(self) -> dict[str, Sequence[str]]:
        """Return which ones have to come over together."""
        return {}

    @abstractmethod
    async def bring(self, old: OldGroup, backend: OxpullBackend, done: MoveReport) -> set[TaskId]:
        """Store one here with its tasks, and delete it there; returns the tasks."""

    async def carry(self, ids: Sequence[TaskId], place: Place, done: MoveReport) -> Carried:
        """Carry tasks over, and count them; raises StaysError unless all that are there came."""
        carried = await self.carrier.carry(ids, place)
        unseen = await rows.old_statuses(self.conn, set(ids) - carried.seen)
        for id_, reason in (carried.left | dict.fromkeys(unseen, LOCKED)).items():
            raise StaysError(f"its task {id_} stays, since {reason}")
        done.ready += len(carried.pending)
        done.keys += len(carried.keys)
        done.results += len(carried.moved) - len(carried.pending)
        return carried

    async def _move(self, bundle: Sequence[str], label: str) -> None:
        left: dict[str, str] = getattr(self.report, f"left_{'batches' if self.kind == 'batch' else 'workflows'}")
        try:
            self.report.add(await repeat_blocking(self.conn, partial(self._attempt, bundle), on=(Contended,)))
        except StaysError as reason:
            left[label] = str(reason)
        except DataRefused as refused:
            left[label] = f"the database refuses a value of it: {refused}"

    async def _attempt(self, bundle: Sequence[str]) -> MoveReport:
        done, ids = MoveReport(), set[TaskId]()
        with suppress(DryRun):
            async with self.conn.transaction():
                for id_ in sorted(bundle):
                    ids |= await self._bring(id_, done)
                if self.request.dry_run:
                    raise DryRun
        if self.request.dry_run:
            self._taken_back |= ids
        return done

    async def _bring(self, id_: str, done: MoveReport) -> set[TaskId]:
        old = await old_groups.lock_group(self.conn, self.kind, id_)
        if old is None:
            raise StaysError(LOCKED)
        try:
            return await self.bring(old, home(), done)
        except (ImproperlyConfigured, UsageError) as refused:
            raise StaysError(str(refused)) from refused

    def callbacks(self, old: OldGroup) -> list[Callback]:
        """Return what follows one here, as it is declared now."""
        return callbacks(old.callbacks, old.id if self.kind == "batch" else None)
