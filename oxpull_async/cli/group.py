"""The root command: its help, its version, and how our errors become one sentence."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import version

import click

from oxpull_async.cli.output import masked
from oxpull_async.domain.errors import OxpullError

_EXAMPLES = """\b
Examples:
  oxpull demo                                      see it work
  oxpull migrate --url sqlite:///tasks.db          create or update the tables
  oxpull worker shop.tasks:ox --concurrency 200    run tasks
  oxpull worker shop.tasks:ox --processes 4        the same in four processes
  oxpull status                                    what is queued, running, failed
  oxpull tasks --status FAILED --limit 20          the newest failures
  oxpull show ID                                   one task, with every traceback
  oxpull explain ID                                why it does not run
  oxpull retry ID ID                               run failed tasks again

\b
Which database: --url, or --app module:ox, or OXPULL_DATABASE_URL.
Exit codes: 0 success, 1 failure, 2 wrong usage, 75 a worker asks to be started anew.
"""


class OxpullGroup(click.Group):
    """Commands in the order in which they were added, their errors in one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of a task's life, not of the alphabet."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error of ours is its message, without a traceback, and exit code 1."""
        with in_one_sentence(click.ClickException):
            return super().invoke(ctx)


@contextmanager
def in_one_sentence(complaint: Callable[[str], Exception]) -> Generator[None]:
    """Raise what `complaint` makes of an error of ours, or of the first in a group of ours."""
    try:
        yield
    except OxpullError as error:
        raise complaint(masked(str(error))) from error
    except ExceptionGroup as group:
        ours, others = group.split(OxpullError)
        if ours is None or others is not None:
            raise
        raise complaint(masked(str(first_of(ours)))) from group


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first plain exception in a group of groups."""
    first = group.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first


@click.group(cls=OxpullGroup, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("oxpull-async"), prog_name="oxpull")
def oxpull() -> None:
    """Async tasks whose queue is the database you already have."""
