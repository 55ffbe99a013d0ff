"""`oxpull schedules`: what ticks when; and its run, pause, resume and delete."""

from collections.abc import Awaitable, Callable, Sequence

import click

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import Column, plain, print_json, print_table, printable
from oxpull_async.cli.target import Target
from oxpull_async.domain.errors import ScheduleDoesNotExist
from oxpull_async.domain.schedule import StoredSchedule

COLUMNS = tuple(map(Column, ("schedule", "kind", "when", "task", "last tick", "next tick", "state")))
_names = click.argument("names", metavar="NAME...", nargs=-1, required=True)


@click.group("schedules", short_help="Show schedules; run, pause, resume, delete.", invoke_without_command=True)
@database_options
def schedules_command(target: Target) -> None:
    """Show every schedule with its last and its next tick.

    Declared ones are those of code and settings; they appear once a worker has seen them.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    found = target.run(lambda ox: ox.list_schedules())
    if target.as_json:
        print_json([_document(schedule) for schedule in found])
    elif found:
        print_table(COLUMNS, map(_row, found))
    else:
        click.echo("no schedules")


@schedules_command.command("run")
@click.argument("name")
@database_options
def run_command(target: Target, *, name: str) -> None:
    """Enqueue the call of a schedule once, now; its ticks and its pause stay as they are.

    A declared one needs its declaration: name the app as module:ox.
    """
    result = target.run(lambda ox: ox.run_schedule(name))
    if target.as_json:
        print_json({"schedule": name, "task": result.id, "created": result.created})
    else:
        how = "enqueued as" if result.created else "answered with the pending"
        click.echo(printable(f"{name} {how} task {result.id}"))


@schedules_command.command("pause")
@_names
@database_options
def pause_command(target: Target, *, names: Sequence[str]) -> None:
    """Drop the ticks of schedules from now on.

    Exit code 1 when one was paused already or is not there.
    """
    _change(target, names, lambda ox, name: ox.pause_schedule(name), "paused")


@schedules_command.command("resume")
@_names
@database_options
def resume_command(target: Target, *, names: Sequence[str]) -> None:
    """Let paused schedules go on with their next ticks.

    Exit code 1 when one was not paused or is not there.
    """
    _change(target, names, lambda ox, name: ox.resume_schedule(name), "resumed")


@schedules_command.command("delete")
@_names
@database_options
def delete_command(target: Target, *, names: Sequence[str]) -> None:
    """Forget schedules; a declared one comes back with the next worker that declares it.

    Exit code 1 when one is not there.
    """
    _change(target, names, lambda ox, name: ox.delete_schedule(name), "deleted")


def _change(target: Target, names: Sequence[str], change: Callable[[Oxpull, str], Awaitable[bool]], done: str) -> None:
    async def change_one(ox: Oxpull, name: str) -> bool:
        try:
            return await change(ox, name)
        except ScheduleDoesNotExist:
            return False

    async def change_all(ox: Oxpull) -> dict[str, bool]:
        return {name: await change_one(ox, name) for name in dict.fromkeys(names)}

    answers = target.run(change_all)
    unchanged = [name for name, changed in answers.items() if not changed]
    if target.as_json:
        print_json({done: [name for name in answers if name not in unchanged], "unchanged": unchanged})
    for name in [] if target.as_json else [name for name in answers if name not in unchanged]:
        click.echo(printable(f"{name} {done}"))
    for name in unchanged:
        click.echo(printable(f"{name} unchanged: it is {done} already, or there is no such schedule"), err=True)
    if unchanged:
        raise click.exceptions.Exit(1)


def _row(schedule: StoredSchedule) -> tuple[object, ...]:
    kind = "declared" if schedule.declared else "stored"
    when = schedule.ticking.timing.describe()
    return (
        schedule.name, kind, when, schedule.task_path, schedule.last_tick_at, schedule.next_at, _state(schedule)
    )  # fmt: skip


def _state(schedule: StoredSchedule) -> str:
    if schedule.paused:
        return "paused"
    return "ended" if schedule.next_at is None else ""


def _document(schedule: StoredSchedule) -> dict[str, object]:
    return {**plain(schedule), "when": schedule.ticking.timing.describe(), "state": _state(schedule) or "active"}
