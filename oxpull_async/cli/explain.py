"""`oxpull explain`: why a task does not run."""

import click

from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import plain, print_json, printable
from oxpull_async.cli.target import Target


@click.command("explain", short_help="Say why a task does not run.")
@click.argument("id_", metavar="ID")
@database_options
def explain_command(target: Target, *, id_: str) -> None:
    """Say whether a worker may claim a task now, and if not, everything that keeps it from that."""
    explanation = target.run(lambda ox: ox.explain(id_))
    if target.as_json:
        print_json({"id": id_, **plain(explanation)})
    elif explanation.runnable:
        click.echo("nothing holds it back: a worker may claim it now")
    else:
        for reason in explanation.reasons:
            click.echo(printable(reason.text))
