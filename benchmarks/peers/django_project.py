"""A Django project in one module, for the contestants that live in one."""

import sys
import time
from typing import Any
from urllib.parse import urlsplit

from driver import NAP, Contestant

LACKS_UNIQUE = {"unique, fresh keys": "it has no unique tasks", "unique, duplicates": "it has no unique tasks"}


class DjangoContestant(Contestant):
    """Settings, migrations and calls; a subclass names the app, the backend, the table and the worker's command."""

    app, backend, model = "", "", ""
    lacks = LACKS_UNIQUE
    command: tuple[str, ...] = ()

    def __init__(self, url: str, settings: dict[str, Any]) -> None:
        super().__init__(url, settings)
        import django
        from django.conf import settings as project

        parts = urlsplit(url)
        database = {
            "ENGINE": "django.db.backends.postgresql", "NAME": parts.path.lstrip("/"), "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""), "USER": parts.username or "", "PASSWORD": parts.password or "",
            "CONN_MAX_AGE": None,
        }  # fmt: skip
        project.configure(
            DATABASES={"default": database}, INSTALLED_APPS=[self.app], USE_TZ=True,
            TASKS={"default": {"BACKEND": self.backend}}, LOGGING_CONFIG=None,
        )  # fmt: skip
        django.setup()
        from django.tasks import task

        sys.modules["bodies"] = bodies = type(sys)("bodies")
        for function in (nothing, nap):
            function.__module__ = "bodies"
            setattr(bodies, function.__name__, task(function))
        self.nothing, self.nap = bodies.nothing, bodies.nap  # type: ignore[attr-defined]
        CURRENT.append(self)

    async def setup(self) -> None:
        from asgiref.sync import sync_to_async

        await sync_to_async(self._set_up)()

    def _set_up(self) -> None:
        from django.apps import apps
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        apps.get_model(self.model).objects.all().delete()

    async def enqueue(self, number: int) -> None:
        await self.nothing.aenqueue(number)

    async def enqueue_nap(self, number: int) -> None:
        await self.nap.aenqueue(number)

    async def enqueue_bulk(self, numbers: range) -> None:
        for number in numbers:
            await self.enqueue(number)

    async def unfinished(self) -> int:
        from django.apps import apps

        rows = apps.get_model(self.model).objects.exclude(status__in=["SUCCESSFUL", "FAILED"])
        return int(await rows.acount())

    def work(self) -> None:
        from django.core.management import call_command

        call_command(*self.command, *self.settings["arguments"])


CURRENT: list[DjangoContestant] = []


def nothing(number: int) -> None:
    CURRENT[0].tally.hit(number)


def nap(number: int) -> None:
    CURRENT[0].tally.hit(number)
    time.sleep(NAP)
