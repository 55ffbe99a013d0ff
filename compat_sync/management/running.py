"""How our commands fail: with one sentence, and without a traceback."""

from collections.abc import Generator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from compat_sync.exceptions import in_django
from compat_sync.placement import migrate_command
from oxpull_async.cli.group import first_of
from oxpull_async.cli.output import masked
from oxpull_async.domain.errors import DatabaseTrouble, NotMigrated, OxpullError, SchemaTooNew

__all__ = ["answered"]


@contextmanager
def answered(afterwards: str = "") -> Generator[None]:
    """Let errors of settings, of the call and of the database leave the block as CommandError.

    `afterwards` says what a broken run has left behind, and what to do.
    """
    try:
        yield
    except NotMigrated as lacking:
        if isinstance(lacking, SchemaTooNew):
            raise CommandError(str(lacking)) from lacking
        raise CommandError(f"{str(lacking).partition(': run')[0]}: run {migrate_command()}") from lacking
    except DatabaseTrouble as trouble:
        raise CommandError(_said(trouble) + (f"; {afterwards}" if afterwards else "")) from trouble
    except OxpullError as refused:
        raise CommandError(_said(refused)) from refused
    except ImproperlyConfigured as refused:
        raise CommandError(str(refused)) from refused
    except ExceptionGroup as group:
        ours, others = group.split(OxpullError)
        if ours is None or others is not None:
            raise
        with answered(afterwards):
            raise first_of(ours) from group


def _said(error: OxpullError) -> str:
    """Return an error's text in the words of a Django project, without the passwords of URLs."""
    return masked(in_django(str(error)))
