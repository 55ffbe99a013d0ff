"""Tasks that the settings of the tests of the checks name."""

from django.tasks import task

from compat_sync.unique import unique
from tests.compat.django_aliases import configure

configure()


@task
def plain(order: int) -> None:
    """Is unique only where settings say so."""


@unique
@task
def decorated(order: int) -> None:
    """Is unique by its decorator."""


other_name = plain
no_task = 5
