"""Views that enqueue one task in each way, and one that does not."""

import asyncio

from asgiref.sync import async_to_sync, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.tasks import task
from django.urls import path


class Gate:
    """Holds the first `size` requests until all of them are there; later ones pass.

    `has_opened`: one that awaited is about to be answered.
    """

    def __init__(self) -> None:
        self.size = 0
        self.has_opened = False
        self._arrived = 0
        self._all_there = asyncio.Event()

    async def passed(self) -> None:
        """Wait for the others."""
        self._arrived += 1
        if self._arrived >= self.size:
            self._all_there.set()
        await self._all_there.wait()


GATE = Gate()


@task
def note(number: int) -> int:
    """Do nothing; it is never run."""
    return number


async def bare(_request: HttpRequest, number: int) -> HttpResponse:
    """Enqueue nothing."""
    await GATE.passed()
    return HttpResponse(str(number))


async def awaited(_request: HttpRequest, number: int) -> HttpResponse:
    """Await `aenqueue`."""
    await GATE.passed()
    result = await note.aenqueue(number)
    GATE.has_opened = True
    return HttpResponse(result.id)


async def behind_a_thread(_request: HttpRequest, number: int) -> HttpResponse:
    """Enqueue in a thread."""
    await GATE.passed()
    return HttpResponse((await sync_to_async(note.enqueue)(number)).id)


def joined(_request: HttpRequest, number: int) -> HttpResponse:
    """Call `aenqueue` from a sync view."""
    return HttpResponse(async_to_sync(note.aenqueue)(number).id)


urlpatterns = [path(f"{view.__name__}/<int:number>", view) for view in (bare, awaited, behind_a_thread, joined)]
