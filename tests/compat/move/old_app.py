"""What the old project does, with the packages that it is leaving; runs in a process of its own, by `python -m`."""

import json
import sys
from datetime import datetime, timedelta
from typing import Any

import django

django.setup()

from django.utils import timezone  # noqa: E402
from django_ox.bulk import enqueue_many  # noqa: E402
from django_ox.models import OxScheduleTick, OxTask  # noqa: E402
from django_ox.stored import create_schedule  # noqa: E402
from django_ox.worker import Worker  # noqa: E402
from oxpull import batches, workflows  # noqa: E402
from oxpull.models import OxpullBatchMember  # noqa: E402
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


def enqueue_batch(sealed: bool) -> dict[str, str]:
    """Store a batch with callbacks, some of whose members have ended; returns its id and theirs."""
    batch = batches.create(
        "import", on_complete=shop.note, on_complete_args=["complete"], on_success="tests.compat.move.shop.note",
        on_success_args=["success"],
    )  # fmt: skip
    ids = {"batch": str(batch.id), "done": batch.add(shop.send_invoice, 40).id}
    while OxpullWorker().run_once():
        pass
    ids["gone"] = batch.add(shop.send_invoice, 41).id
    OxTask.objects.filter(pk=ids["gone"]).delete()
    ids["unique"], ids["ready"] = batch.add(shop.charge, 42).id, batch.add(shop.send_invoice, 43).id
    if sealed:
        batch.seal()
    return ids


def enqueue_two_batches() -> dict[str, str]:
    """Store two batches that share a unique task."""
    first, second = batches.create("first"), batches.create("second")
    ids = {"first": str(first.id), "second": str(second.id), "shared": first.add(shop.charge, 44).id}
    # As `second.add` of the same call does, which fails on MariaDB before 11.1.
    OxpullBatchMember.objects.create(batch_id=second.id, task_id=ids["shared"], created_at=timezone.now())
    first.seal()
    second.seal()
    return ids


def enqueue_running_batch() -> str:
    """Store a batch with two members, one of which a worker takes and does not end; returns its id."""
    batch = batches.create("busy")
    batch.add(shop.send_invoice, 45)
    batch.add(shop.send_invoice, 46)
    batch.seal()
    assert OxpullWorker().claim_one() is not None
    return str(batch.id)


def enqueue_workflow(sealed: bool) -> dict[str, str]:
    """Store a workflow: one node has succeeded and is gone, one has failed, one waits for it, one may run."""
    flow = workflows.create("report", on_complete=shop.note, on_complete_args=["complete"])
    ids = {"pruned": flow.add("pruned", shop.send_invoice, 60).id, "failed": flow.add("failed", shop.fail, "no").id}
    OxTask.objects.filter(pk=ids["failed"]).update(max_attempts=1)
    while OxpullWorker().run_once():
        pass
    ids["after pruned"] = flow.add("after pruned", shop.send_invoice, 61, depends_on="pruned").id
    ids["after failed"] = flow.add("after failed", shop.send_invoice, 62, depends_on=["failed", "pruned"]).id
    ids["last"] = flow.add("last", shop.send_invoice, 63, depends_on=["after pruned"]).id
    OxTask.objects.filter(pk=ids["pruned"]).delete()
    if sealed:
        flow.seal()
    return {**ids, "workflow": str(flow.id)}


def discard_cones() -> int:
    """Let the old reconciler discard what is behind failed nodes; returns how many tasks are discarded then."""
    workflows.reconcile.call()
    return int(OxTask.objects.filter(status="DISCARDED").count())


def enqueue_running_workflow() -> str:
    """Store a workflow of two nodes, the first of which a worker takes and does not end; returns its id."""
    flow = workflows.create("busy")
    flow.add("first", shop.send_invoice, 64)
    flow.add("second", shop.send_invoice, 65, depends_on="first")
    flow.seal()
    assert OxpullWorker().claim_one() is not None
    return str(flow.id)


def store_schedules() -> None:
    """Store schedules: by cron, by an interval with a tick behind it, and one that is switched off."""
    create_schedule(name="hourly", task_key="invoice", trigger="cron", cron="0 * * * *", arguments={"order_id": 50})
    often = create_schedule(
        name="often", task_key="invoice", trigger="interval", every_seconds=600, arguments={"order_id": 51},
        start_time=datetime.fromisoformat("2030-01-01T00:00:00+00:00"), starting_deadline_seconds=60,
    )  # fmt: skip
    OxScheduleTick.objects.create(
        schedule_name=f"db:{often.pk}", scheduled_for=datetime.fromisoformat("2030-01-01T00:20:00+00:00"),
        created_at=timezone.now(),
    )  # fmt: skip
    create_schedule(
        name="off", task_key="invoice", trigger="cron", cron="5 * * * *", arguments={"order_id": 52}, enabled=False
    )


def tick_of_settings() -> str:
    """Store the tick that the settings' schedule had yesterday; returns its instant."""
    yesterday = (timezone.now() - timedelta(days=1)).replace(hour=3, minute=0, second=0, microsecond=0)
    OxScheduleTick.objects.create(schedule_name="nightly", scheduled_for=yesterday, created_at=timezone.now())
    return yesterday.isoformat()


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
