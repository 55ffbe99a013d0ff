"""What the old project does, with the packages that it is leaving; runs in a process of its own, by `python -m`."""

import json
import sys
from datetime import datetime
from typing import Any

import django

django.setup()

from django.utils import timezone  # noqa: E402
from django_ox.bulk import enqueue_many  # noqa: E402
from django_ox.models import OxScheduleTick, OxTask  # noqa: E402
from django_ox.worker import Worker  # noqa: E402
from oxpull import batches, workflows  # noqa: E402
from oxpull.unique import unique_key  # noqa: E402
from oxpull.worker import OxpullWorker  # noqa: E402

from tests.compat.move import shop  # noqa: E402

TOMORROW = datetime.fromisoformat("2999-01-02T03:04:05.678901+00:00")


def enqueue_waiting() -> dict[str, str]:
    """Store a task of each kind that waits."""
    mail = shop.send_invoice.using(queue_name="mail", priority=7)
    return {
        "plain": shop.send_invoice.enqueue(1).id,
        "mail": mail.enqueue(2, copy=True).id,
        "deferred": shop.send_invoice.using(run_after=TOMORROW).enqueue(3).id,
        "unique": shop.charge.enqueue(4).id,
    }


def enqueue_failed_once() -> str:
    """Store a task, and let its first attempt fail."""
    id_ = shop.fail.enqueue("out of stock").id
    Worker(backoff_initial=3600).run_once()
    return id_


def enqueue_many_plain(count: int) -> list[str]:
    """Store many tasks at once."""
    return [result.id for result in enqueue_many(shop.send_invoice, [([number], {}) for number in range(count)])]


def enqueue_unique(count: int) -> list[str]:
    """Store many unique tasks, one after another."""
    return [shop.charge.enqueue(number).id for number in range(count)]


def enqueue_running() -> str:
    """Store a unique task that a worker takes and does not end."""
    id_ = shop.charge.enqueue(5).id
    assert Worker().claim_one() is not None
    return id_


def enqueue_ended() -> dict[str, str]:
    """Store tasks and run them to their ends."""
    ids = {"successful": shop.send_invoice.enqueue(8).id, "unique": shop.charge.enqueue(9).id}
    ids["failed"] = shop.fail.enqueue("broken").id
    OxTask.objects.filter(pk=ids["failed"]).update(max_attempts=1)
    worker = Worker()
    while worker.run_once():
        pass
    return ids


def enqueue_lost() -> str:
    """Store a task whose last worker fell silent."""
    id_ = shop.send_invoice.enqueue(10).id
    OxTask.objects.filter(pk=id_).update(max_attempts=1)
    worker = Worker(lock_timeout=0.0)
    assert worker.claim_one() is not None
    worker.reap()
    return id_


def enqueue_bound() -> dict[str, str]:
    """Store tasks that belong to a batch, to a workflow, and to the app itself."""
    batch = batches.create("import")
    member = batch.add(shop.send_invoice, 20)
    batch.seal()
    flow = workflows.create("report")
    first = flow.add("first", shop.send_invoice, 21)
    second = flow.add("second", shop.send_invoice, 22, depends_on="first")
    flow.seal()
    return {"member": member.id, "first": first.id, "second": second.id, "upkeep": batches.reconcile.enqueue().id}


def enqueue_scheduled() -> str:
    """Store a task as a schedule does, with a line in its log."""
    id_ = shop.send_invoice.enqueue(30).id
    OxScheduleTick.objects.create(
        schedule_name="nightly", scheduled_for=timezone.now(), task_id=id_, created_at=timezone.now()
    )
    return id_


def work() -> int:
    """Run what waits, as the worker command does; returns how many ran."""
    worker = OxpullWorker()
    done = 0
    while worker.run_once():
        done += 1
    return done


def keys(calls: list[list[Any]]) -> list[str]:
    """Return the keys that calls have there."""
    return [unique_key(*call) for call in calls]


def serve() -> None:
    """Answer one question a line until there are no more."""
    for line in sys.stdin:
        name, arguments = json.loads(line)
        answer = globals()[name](*arguments)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
