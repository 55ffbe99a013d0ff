"""What the page of one task shows."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.tasks import task_backends

from compat_sync import clock
from compat_sync.admin.links import badge, pretty, task_link, url_of
from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import OxpullError, translated
from compat_sync.models import OxpullTask, OxpullUniqueKey
from compat_sync.operations import operations_of, our_aliases
from compat_sync.placement import database_alias
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskError, TaskStatus, error_from_json
from oxpull_async.store.overview import lock_holders

__all__ = ["Fact", "TaskPage", "task_page"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line, to be escaped; `url` makes it a link, `is_block` keeps its line breaks."""

    label: str
    value: Any
    url: str = ""
    is_block: bool = False


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One task: facts, why it does not run, and every failed attempt, the latest first."""

    facts: list[Fact]
    reasons: list[Fact]
    is_runnable: bool
    errors: list[TaskError]


def task_page(task: OxpullTask, site: str) -> TaskPage:
    """Read what belongs to a stored task."""
    reasons = _reasons(task, site)
    facts = [*_origin(task), *_life(task), *_keys(task, site)]
    errors = [error_from_json(entry) for entry in reversed(task.errors)]
    return TaskPage(
        facts=[fact for fact in facts if fact.value not in {None, ""}],
        reasons=reasons,
        is_runnable=not reasons,
        errors=errors,
    )


def _origin(task: OxpullTask) -> list[Fact]:
    asked = ", asked to stop" if task.cancel_requested and task.status == TaskStatus.RUNNING else ""
    waits = f" for its {task.waiting_for.replace('_', '-')}" if task.waiting_for else ""
    return [
        Fact("id", str(task.pk)),
        Fact("task", task.task_path),
        Fact("status", badge(task.status)),
        Fact("meanwhile", (waits + asked).strip(" ,")),
        Fact("queue", task.queue_name),
        Fact("alias", task.backend_alias),
        Fact("priority", task.priority),
        Fact("args", pretty(task.args), is_block=True),
        Fact("kwargs", pretty(task.kwargs), is_block=True),
    ]


def _life(task: OxpullTask) -> list[Fact]:
    is_successful = task.status == TaskStatus.SUCCESSFUL
    return [
        Fact("return value", pretty(task.return_value) if is_successful else None, is_block=True),
        Fact("progress", None if task.progress is None else pretty(task.progress), is_block=True),
        Fact("attempts", f"{task.attempts} of {task.max_attempts}"),
        Fact("timeout", None if task.timeout is None else f"{task.timeout:g} s"),
        Fact("enqueued", task.enqueued_at),
        Fact("run after", task.run_after),
        Fact("available", task.available_at),
        Fact("started", task.started_at),
        Fact("last attempt", task.last_attempted_at),
        Fact("finished", task.finished_at),
        Fact("runs on worker", task.leased_by),
        Fact("workers", ", ".join(task.worker_ids)),
        Fact("epoch", task.epoch),
    ]


def _keys(task: OxpullTask, site: str) -> list[Fact]:
    """Name the task's unique key and running lock, and who has them."""
    facts = []
    if task.unique_key is not None:
        facts.append(Fact("unique key", task.unique_key, url_of("oxpulluniquekey", task.unique_key, site)))
        held = OxpullUniqueKey.objects.filter(pk=task.unique_key).first()
        if held is not None:
            own = held.holder_id == task.pk
            facts.append(Fact("the key's holder", "this task" if own else task_link(held.holder_id, site)))
            facts.append(Fact("its follow-up", held.follow_up_id and task_link(held.follow_up_id, site)))
    if task.lock_key is not None:
        facts.append(Fact("running lock", task.lock_key, url_of("oxpulllock", task.lock_key, site)))
        facts.append(Fact("places in the lock", task.lock_limit))
        conn = DjangoConnection(database_alias(), clock_offset=clock.offset())
        with translated():
            holders = run_blocking(lock_holders(conn, task.lock_key))
        facts += [Fact("the lock's holder", task_link(holder, site)) for holder in holders]
    return facts


def _reasons(task: OxpullTask, site: str) -> list[Fact]:
    """Say why the task does not run, with links to what it waits for."""
    if task.backend_alias not in set(task_backends):
        here = ", ".join(map(repr, our_aliases())) or "none"
        gone = f"TASKS has no alias {task.backend_alias!r} here (there is {here}): no worker of this project runs it"
        return [Fact("unknown", gone)]
    try:
        with translated():
            explanation = run_blocking(operations_of(task.backend_alias).explain(str(task.pk)))
    except (ImproperlyConfigured, OxpullError) as unknown:
        return [Fact("unknown", str(unknown))]
    return [
        Fact(
            str(reason.kind),
            reason.text,
            "" if reason.task_id in {None, str(task.pk)} else url_of("oxpulltask", reason.task_id, site),
        )
        for reason in explanation.reasons
    ]
