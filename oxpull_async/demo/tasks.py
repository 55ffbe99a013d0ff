"""The demo's tasks; a worker runs them with `oxpull worker oxpull_async.demo.tasks:ox`."""

import os
import time
from pathlib import Path

from oxpull_async import Oxpull, Snooze, TaskStatus
from oxpull_async.demo.modules import ModuleFacts, Totals, add_up, read_module
from oxpull_async.store.results import get_tasks

ALIAS, LEASE = "OXPULL_DEMO_ALIAS", "OXPULL_DEMO_LEASE"

# The database is that of OXPULL_DATABASE_URL. The alias is this run's own, so that no other worker takes its tasks.
ox = Oxpull(alias=os.environ.get(ALIAS, "demo"), lease_seconds=float(os.environ.get(LEASE, "30")))


@ox.task(queue_name="demo")
def index_file(path: str, name: str, pace: float) -> ModuleFacts:
    """Count what one source file holds; takes `pace` seconds longer, for those who watch."""
    time.sleep(pace)
    return read_module(Path(path), name)


@ox.task(queue_name="demo", priority=-10)
async def sum_files(file_tasks: list[str]) -> Totals:
    """Add up what the file tasks returned, once every one of them has ended.

    It is computed from stored results only, so it comes out the same however often a worker dies on the way.
    """
    records = await ox.operate(lambda conn: get_tasks(conn, file_tasks))
    unfinished = sum(not record.status.is_finished for record in records.values())
    if unfinished:
        raise Snooze(min(max(0.1, unfinished / 500), 5))
    handles = [ox.result_of(record) for record in records.values() if record.status is TaskStatus.SUCCESSFUL]
    return add_up(handle.return_value for handle in handles)
