"""`oxpull retry`, `discard` and `cancel`: change tasks, and say why one did not change."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import click

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import print_json, printable
from oxpull_async.cli.target import Target
from oxpull_async.domain.errors import TaskResultDoesNotExist
from oxpull_async.domain.record import TaskRecord, TaskStatus

type Change = Callable[[Oxpull, str], Awaitable[bool]]

_ids = click.argument("ids", metavar="ID...", nargs=-1, required=True)


@dataclass(frozen=True, slots=True)
class Verb:
    """One way to change a task: what it is called afterwards, and what tasks it is for."""

    done: str
    takes: str
    change: Change


@dataclass(frozen=True, slots=True)
class Skipped:
    """A task that did not change, the status it is in (None: there is none), and why."""

    id: str
    status: str | None
    reason: str


@click.command("retry", short_help="Run failed or lost tasks again.")
@_ids
@click.option("--include-discarded", is_flag=True, help="Discarded tasks too.")
@database_options
def retry_command(target: Target, *, ids: Sequence[str], include_discarded: bool) -> None:
    """Make failed or lost tasks ready once more, each with one more attempt."""
    takes = "FAILED, LOST and DISCARDED" if include_discarded else "FAILED and LOST"
    hint = "" if include_discarded else " (--include-discarded adds DISCARDED)"
    verb = Verb(
        "ready again",
        f"{takes} tasks can be retried{hint}",
        lambda ox, id_: ox.retry(id_, include_discarded=include_discarded),
    )
    _change(target, ids, verb)


@click.command("discard", short_help="End tasks that do not run.")
@_ids
@database_options
def discard_command(target: Target, *, ids: Sequence[str]) -> None:
    """End tasks that are ready, waiting, failed or lost, so that they do not run anymore."""
    takes = "READY, WAITING, FAILED and LOST tasks can be discarded"
    _change(target, ids, Verb("discarded", takes, lambda ox, id_: ox.discard(id_)))


@click.command("cancel", short_help="End tasks, running ones too.")
@_ids
@database_options
def cancel_command(target: Target, *, ids: Sequence[str]) -> None:
    """End tasks that do not run yet, and ask running ones to stop."""
    takes = "READY, WAITING and RUNNING tasks can be cancelled"
    _change(target, ids, Verb("cancelled, or asked to stop", takes, lambda ox, id_: ox.cancel(id_)))


def _change(target: Target, ids: Sequence[str], verb: Verb) -> None:
    async def change_all(ox: Oxpull) -> list[str | Skipped]:
        return [await _change_one(ox, id_, verb) for id_ in dict.fromkeys(ids)]

    answers = target.run(change_all)
    changed = [answer for answer in answers if isinstance(answer, str)]
    skipped = [answer for answer in answers if isinstance(answer, Skipped)]
    if target.as_json:
        print_json({"changed": changed, "skipped": skipped})
    for id_ in [] if target.as_json else changed:
        click.echo(f"{id_} {verb.done}")
    for answer in skipped:
        click.echo(printable(f"{answer.id} unchanged: {answer.reason}"), err=True)
    if skipped:
        raise click.exceptions.Exit(1)


async def _change_one(ox: Oxpull, id_: str, verb: Verb) -> str | Skipped:
    """Change one task; returns its id, or why it did not change."""
    try:
        if await verb.change(ox, id_):
            return id_
        record = await ox.read(id_)
    except TaskResultDoesNotExist as missing:
        return Skipped(id_, None, str(missing))
    return Skipped(id_, record.status, _reason(record, verb))


def _reason(record: TaskRecord, verb: Verb) -> str:
    if record.status is TaskStatus.RUNNING and record.cancel_requested:
        return "it is RUNNING and was asked to stop already"
    return f"it is {record.status}, and only {verb.takes}"
