"""`oxpull migrate`: bring the tables up to date, or say what that would take."""

from collections.abc import Sequence

import click

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import print_json
from oxpull_async.cli.target import Target, run_with
from oxpull_async.db.schema import Migration, as_script
from oxpull_async.store import schema


@click.command("migrate", short_help="Create or update the tables.")
@click.option("--check", is_flag=True, help="Apply nothing; exit 1 when something is pending.")
@click.option("--sql", is_flag=True, help="Apply nothing; print the statements that are pending.")
@database_options
def migrate_command(target: Target, *, check: bool, sql: bool) -> None:
    """Create or update the tables in your database.

    Safe to repeat, and to start in several processes at once. On an empty database --sql prints every statement.
    """
    if check and sql:
        raise click.UsageError("--check and --sql exclude each other")
    if check:
        _check(target)
    elif sql:
        _print_sql(target)
    else:
        _migrate(target)


def _migrate(target: Target) -> None:
    applied = run_with(target.oxpull(), Oxpull.migrate)
    if target.as_json:
        print_json({"applied": applied})
    elif applied:
        click.echo(f"applied {', '.join(applied)}")
    else:
        click.echo("nothing to do: the tables are up to date")


def _check(target: Target) -> None:
    names = [migration.name for migration in run_with(target.oxpull(), _pending)]
    if target.as_json:
        print_json({"pending": names})
    elif names:
        click.echo(f"pending: {', '.join(names)}")
    else:
        click.echo("the tables are up to date")
    if names:
        raise click.exceptions.Exit(1)


def _print_sql(target: Target) -> None:
    ox = target.oxpull()
    dialect = ox.database.dialect.name
    steps = {migration.name: as_script(dialect, migration) for migration in run_with(ox, _pending)}
    if target.as_json:
        listed = [{"name": name, "statements": texts} for name, texts in steps.items()]
        print_json({"dialect": dialect, "migrations": listed})
        return
    if not steps:
        click.echo("-- nothing is pending")
    for name, texts in steps.items():
        click.echo(f"-- {name}")
        for text in texts:
            click.echo(f"{text};")


async def _pending(ox: Oxpull) -> Sequence[Migration]:
    uuid_type = await ox.database.uuid_type()
    state = await ox.operate(lambda conn: schema.read_schema(conn, uuid_type))
    if state.unknown:
        schema.require_current(state)
    return state.pending
