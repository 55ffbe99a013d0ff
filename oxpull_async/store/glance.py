"""One look at all that an idle worker's loops wait for, so that none asks for itself."""

from dataclasses import dataclass
from typing import Any

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import WorkerId, wire_id


@dataclass(frozen=True, slots=True)
class Glance:
    """What there is to do.

    `next_due_in` and `schedule_in` are seconds until the next deferred row and the next tick of a schedule, None where
    there is none. `is_silent`: a worker's lease has expired, or somebody dead or gone still holds rows or declares a
    limit. `holds`: rows run under the worker's own id.
    """

    is_due: bool
    next_due_in: float | None
    marked_members: bool
    marked_nodes: bool
    open_batches: bool
    open_workflows: bool
    is_silent: bool
    rechecks: bool
    parked: bool
    holds: bool
    schedule_in: float | None

    @property
    def is_quiet(self) -> bool:
        """Whether no row is due now."""
        return not self.is_due and (self.next_due_in is None or self.next_due_in > 0)

    @property
    def needs_care(self) -> bool:
        """Whether there is something that somebody should do at once."""
        return self.marked_members or self.marked_nodes or self.is_silent or self.rechecks


async def glance(conn: Connection, backend_alias: str, worker_id: WorkerId, grace: float) -> Glance:
    """Look once; a lease counts as expired `grace` seconds after its end."""
    [row] = await conn.fetch("glance", backend_alias=backend_alias, worker_id=wire_id(worker_id), grace=grace)
    members, nodes, batches, workflows, is_silent, rechecks, parked, holds = (bool(flag) for flag in row[2:10])
    return Glance(
        bool(row[0]), _seconds(row[1]), members, nodes, batches, workflows, is_silent, rechecks, parked, holds,
        _seconds(row[10]),
    )  # fmt: skip


def _seconds(value: Any) -> float | None:
    return None if value is None else float(value)
