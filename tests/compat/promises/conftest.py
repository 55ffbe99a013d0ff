"""Sites of each kind, with something open or nothing, and other threads beside them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.test import override_settings

from tests.compat.conftest import Kind
from tests.compat.promises.kit import MODES, Elsewhere, Mode, opened, site_of
from tests.compat.promises.web import GATE, Web, awaited


@pytest.fixture
def own_site(url_of: Callable[[Kind], str], kind: Kind) -> Iterator[str]:
    """Give a site of each kind, by an alias of this test's own."""
    with site_of(url_of(kind)) as alias:
        yield alias


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Mode:
    """Name what the caller may have open."""
    found: Mode = request.param
    return found


@pytest.fixture
def inside(own_site: str, mode: Mode) -> Iterator[str]:
    """Give a site's alias with nothing, `atomic()`, or a transaction by hand open for the whole test."""
    with opened(own_site, mode):
        yield own_site


@pytest.fixture(params=[True, False], ids=["atomic_requests", "no_atomic_requests"])
def web(request: pytest.FixtureRequest, url_of: Callable[[Kind], str], kind: Kind) -> Iterator[Web]:
    """Serve the views with ATOMIC_REQUESTS on and off."""
    GATE.shut()
    views = override_settings(
        ROOT_URLCONF="tests.compat.promises.web", ALLOWED_HOSTS=["testserver"], MIDDLEWARE=[], DEBUG=False
    )
    with views, site_of(url_of(kind), atomic_requests=request.param) as alias:
        transaction.non_atomic_requests(alias)(awaited)  # Django has no other way for a coroutine
        yield Web(alias, atomic=request.param)


@pytest.fixture
def open_elsewhere() -> Iterator[Callable[[str], Elsewhere]]:
    """Open other threads of a site; their connections are closed at the end."""
    made: list[Elsewhere] = []

    def make(alias: str) -> Elsewhere:
        made.append(Elsewhere(alias))
        return made[-1]

    yield make
    for elsewhere in made:
        elsewhere.close()


@pytest.fixture
def later() -> datetime:
    """Name an instant that will not come during the test."""
    return datetime.now(UTC) + timedelta(hours=1)
