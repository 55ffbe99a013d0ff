"""Workers for the site, sites by an alias of their own, and settings that change during a test."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.tasks import task_backends
from django.test import override_settings

from compat_sync.backend import OxpullBackend
from compat_sync.worker.host import DjangoHost, register
from oxpull_async.runtime.worker import Worker
from tests.compat.conftest import Kind
from tests.compat.promises.kit import site_of


@pytest.fixture
def own_site(url_of: Callable[[Kind], str], kind: Kind) -> Iterator[str]:
    """Give a site of each kind, by an alias of this test's own."""
    with site_of(url_of(kind)) as alias:
        yield alias


@pytest.fixture
def work(site: str) -> Callable[[], None]:
    """Run what is due now."""
    register()

    def run() -> None:
        host = DjangoHost.of("default")

        async def main() -> None:
            async with host.ox:
                await Worker(host, burst=True, threads=1).run()

        asyncio.run(main())

    return run


@pytest.fixture
def backend() -> OxpullBackend:
    """Give the backend of the default alias."""
    found = task_backends["default"]
    assert isinstance(found, OxpullBackend)
    return found


@pytest.fixture
def configured() -> Iterator[Callable[..., None]]:
    """Change TASKS, by alias, until the test ends."""
    overrides: list[override_settings] = []

    def configure(**aliases: dict[str, Any]) -> None:
        overrides.append(override_settings(TASKS=aliases))
        overrides[-1].enable()

    yield configure
    for override in reversed(overrides):
        override.disable()
