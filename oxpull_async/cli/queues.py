"""`oxpull pause` and `oxpull resume`: stop and restart the claims from a queue."""

from collections.abc import Awaitable, Callable, Sequence

import click

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import print_json, printable
from oxpull_async.cli.target import Target

_queues = click.argument("queues", metavar="QUEUE...", nargs=-1, required=True)


@click.command("pause", short_help="Stop claims from a queue.")
@_queues
@database_options
def pause_command(target: Target, *, queues: Sequence[str]) -> None:
    """Stop every worker from claiming from a queue; what runs, runs on.

    Exit code 1 when one was paused already.
    """
    _switch(target, queues, lambda ox, name: ox.pause(name), "paused")


@click.command("resume", short_help="Allow claims from a queue again.")
@_queues
@database_options
def resume_command(target: Target, *, queues: Sequence[str]) -> None:
    """Let workers claim from a queue again. Exit code 1 when one was not paused."""
    _switch(target, queues, lambda ox, name: ox.resume(name), "resumed")


def _switch(target: Target, queues: Sequence[str], switch: Callable[[Oxpull, str], Awaitable[bool]], done: str) -> None:
    async def switch_all(ox: Oxpull) -> dict[str, bool]:
        return {name: await switch(ox, name) for name in dict.fromkeys(queues)}

    answers = target.run(switch_all)
    unchanged = [name for name, changed in answers.items() if not changed]
    if target.as_json:
        print_json({done: [name for name in answers if name not in unchanged], "unchanged": unchanged})
    for name, changed in answers.items():
        if changed and not target.as_json:
            click.echo(printable(f"{name} {done}"))
    for name in unchanged:
        why = "paused already" if done == "paused" else "not paused"
        click.echo(printable(f"{name} unchanged: it is {why}"), err=True)
    if unchanged:
        raise click.exceptions.Exit(1)
