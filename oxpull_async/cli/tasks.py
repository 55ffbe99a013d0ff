"""`oxpull tasks` and `oxpull show`: read stored tasks."""

import json
from typing import Any

import click

from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import Column, plain, print_json, print_table, printable, when
from oxpull_async.cli.target import Target
from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.store.results import TaskFilter

_COLUMNS = (
    Column("id"), Column("task"), Column("queue"), Column("status"), Column("priority", is_number=True),
    Column("attempts", is_number=True), Column("enqueued"), Column("finished"), Column("last error"),
)  # fmt: skip
_STATUS = click.Choice([status.value for status in TaskStatus], case_sensitive=False)


@click.command("tasks", short_help="List tasks, newest first.")
@click.option("--queue", metavar="NAME", help="Of this queue only.")
@click.option("--status", type=_STATUS, help="In this status only.")
@click.option("--path", metavar="DOTTED.PATH", help="Of this task only, like shop.tasks.send_invoice.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@database_options
def tasks_command(target: Target, *, queue: str | None, status: str | None, path: str | None, limit: int) -> None:
    """List tasks, the newest first."""
    wanted = TaskFilter(None if status is None else TaskStatus(status.upper()), queue, path, limit)
    records = [result.record for result in target.run(lambda ox: ox.list_results(wanted))]
    if target.as_json:
        print_json({"tasks": [document(record) for record in records]})
    elif not records:
        click.echo("no task matches")
    else:
        print_table(_COLUMNS, [_row(record) for record in records])


@click.command("show", short_help="Show one task with all its attempts.")
@click.argument("id_", metavar="ID")
@database_options
def show_command(target: Target, *, id_: str) -> None:
    """Show everything that is stored about one task, with the traceback of every failed attempt."""
    record = target.run(lambda ox: ox.read(id_))
    if target.as_json:
        print_json(document(record))
        return
    facts = _facts(record)
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        if value not in {None, ""}:
            click.echo(f"{name:<{width}}  {printable(str(value))}")
    for error in record.errors:
        click.echo(f"\nattempt {error.attempt} failed {when(error.at)} on worker {printable(error.worker_id)}")
        click.echo(printable(error.traceback.rstrip()) or printable(error.exception_class_path))


def document(record: TaskRecord) -> dict[str, Any]:
    """Return a task as JSON for machines."""
    return {**plain(record), "is_finished": record.status.is_finished}


def _row(record: TaskRecord) -> tuple[object, ...]:
    last = record.errors[-1].exception_class_path if record.errors else None
    attempts = f"{record.attempts}/{record.max_attempts}"
    return (
        record.id, record.task_path, record.queue_name, record.status, record.priority, attempts, record.enqueued_at,
        record.finished_at, last,
    )  # fmt: skip


def _facts(record: TaskRecord) -> list[tuple[str, object]]:
    """Return what is known, in the order of a task's life."""
    is_successful = record.status is TaskStatus.SUCCESSFUL
    waits = f" for {record.waiting_for}" if record.waiting_for else ""
    asked = ", asked to stop" if record.cancel_requested and record.status is TaskStatus.RUNNING else ""
    return [
        ("id", record.id),
        ("task", record.task_path),
        ("status", f"{record.status}{waits}{asked}"),
        ("queue", record.queue_name),
        ("priority", record.priority),
        ("args", _json(record.args)),
        ("kwargs", _json(record.kwargs)),
        ("return value", _json(record.return_value) if is_successful else None),
        ("progress", None if record.progress is None else _json(record.progress)),
        ("attempts", f"{record.attempts} of {record.max_attempts}"),
        ("timeout", None if record.timeout is None else f"{record.timeout:g} s"),
        ("enqueued", when(record.enqueued_at)),
        ("run after", when(record.run_after)),
        ("available", when(record.available_at)),
        ("started", when(record.started_at)),
        ("last attempt", when(record.last_attempted_at)),
        ("finished", when(record.finished_at)),
        ("runs on", record.leased_by),
        ("workers", ", ".join(record.worker_ids)),
        ("epoch", record.epoch),
        ("alias", record.backend_alias),
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
