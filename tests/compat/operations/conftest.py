"""A site whose alias no thread has seen before: threads keep what they know of an alias."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from tests.compat import routing
from tests.compat.conftest import Kind
from tests.compat.django_aliases import add_alias, drop_alias
from tests.fixtures import raw


@pytest.fixture
def new_site(url_of: Callable[[Kind], str], kind: Kind) -> Iterator[str]:
    """Keep the tasks of the Django site in a database of each kind in turn, under an alias of this test's own."""
    before, alias = routing.current["alias"], f"compat-{uuid4().hex[:8]}"
    add_alias(alias, url_of(kind))
    routing.current["alias"] = alias
    run_blocking(raw.empty(DjangoConnection(alias)))
    yield alias
    routing.current["alias"] = before
    drop_alias(alias)
