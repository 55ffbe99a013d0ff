"""How our commands fail: with one sentence, and without a traceback."""

from collections.abc import Generator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

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
        raise CommandError(f"{str(lacking).partition(': run')[0]}: run `manage.py migrate`") from lacking
    except DatabaseTrouble as trouble:
        raise CommandError(f"{trouble}; {afterwards}" if afterwards else str(trouble)) from trouble
    except (ImproperlyConfigured, OxpullError) as refused:
        raise CommandError(str(refused)) from refused
