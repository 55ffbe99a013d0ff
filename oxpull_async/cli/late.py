"""Commands whose code is imported when they are called, since it needs more than the others."""

from importlib import import_module

import click


@click.command(
    "demo",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    short_help="Index the standard library with tasks and show the totals.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def demo_command(arguments: tuple[str, ...]) -> None:
    """Index the standard library with tasks and show the totals; takes the options of the demo."""
    command = load("oxpull_async.demo.run", "demo_command", extra="demo")
    command.main(list(arguments), prog_name="oxpull demo", standalone_mode=False)


def load(module: str, name: str, *, extra: str) -> click.Command:
    """Import a command.

    Raises: click.ClickException naming the extra to install when something it needs is missing.
    """
    try:
        command: click.Command = getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        raise click.ClickException(
            f"this command needs the module {missing.name!r}, which is not installed: "
            f"pip install 'oxpull-async[{extra}]'"
        ) from missing
    return command
