"""`python -m tests.scenarios.django_site MODE VIEW TOTAL AT_ONCE` prints what the requests held, as JSON.

MODE is `asgi`, `asgi-with-signals` (with the receivers by which Django itself tidies up before a request, in a thread),
`wsgi`; all in this process, through Django's own handlers and httpx.
"""

import asyncio
import json
import os
import sys
import time
from dataclasses import asdict
from typing import Any

import django
import httpx

from oxpull_async.drivers.url import parse_url

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.scenarios.django_site.settings"
if sys.argv[1] == "wsgi":  # one thread serves all, and may keep its connection
    os.environ["SITE_KEEPS_CONNECTIONS"] = "1"
django.setup()

from django.core.handlers.asgi import ASGIHandler  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.core.signals import request_started  # noqa: E402
from django.db import close_old_connections, connections, reset_queries  # noqa: E402

from tests.scenarios.django_site.held import Meter  # noqa: E402
from tests.scenarios.django_site.views import GATE  # noqa: E402

SITE = "http://site"


async def asynchronously(meter: Meter, view: str, total: int, at_once: int) -> dict[str, Any]:
    """Send requests by ASGI, so many at once; the first of them wait for each other inside the view."""
    application: Any = ASGIHandler()  # whose type is narrower than what a transport may send
    turns = asyncio.Semaphore(at_once)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url=SITE, timeout=300) as client:

        async def ask(number: int) -> int:
            async with turns:
                return (await client.get(f"/{view}/{number}")).status_code

        await ask(0)  # opens what stays open
        GATE.has_opened = False
        GATE.size = at_once
        before, start = meter.held(), time.monotonic()
        with meter.sampling(lambda: GATE.has_opened):
            codes = await asyncio.gather(*(ask(number) for number in range(total)))
        seconds = time.monotonic() - start
        return told(meter, before, codes, seconds)


def synchronously(meter: Meter, view: str, total: int) -> dict[str, Any]:
    """Send requests by WSGI, one after another."""
    with httpx.Client(transport=httpx.WSGITransport(WSGIHandler()), base_url=SITE, timeout=300) as client:
        client.get(f"/{view}/0")
        before, start = meter.held(), time.monotonic()
        codes = [client.get(f"/{view}/{number}").status_code for number in range(total)]
        return told(meter, before, codes, time.monotonic() - start)


def told(meter: Meter, before: Any, codes: list[int], seconds: float) -> dict[str, Any]:
    """Return what was seen."""
    return {
        "before": asdict(before),
        "after": asdict(meter.settled(before)),
        "peak": asdict(meter.peak),
        "answered": codes.count(200),
        "seconds": seconds,
    }


def main() -> None:
    """Run what the command line says."""
    mode, view, total, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    meter = Meter(parse_url(os.environ["OXPULL_DATABASE_URL"]))
    if mode == "asgi":
        request_started.disconnect(reset_queries)
        request_started.disconnect(close_old_connections)
    if mode == "wsgi":
        seen = synchronously(meter, view, total)
    else:
        seen = asyncio.run(asynchronously(meter, view, total, at_once))
    connections.close_all()
    sys.stdout.write(json.dumps(seen))


main()
