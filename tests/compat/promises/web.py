"""Views of a shop that enqueue, and a browser for them."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, get_ident
from typing import Any

from django.db import connections, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.test import AsyncClient, Client
from django.urls import path

from compat_sync.results import TaskResult
from tests.cli.support import PATIENCE
from tests.compat.promises import shop
from tests.compat.routing import current


class Gate:
    """Stops a view in its middle until it is let go."""

    def __init__(self) -> None:
        self.shut()

    def shut(self) -> None:
        """Stop the next one."""
        self._entered, self._open = Event(), Event()

    def stop(self) -> None:
        """Stand here, in a view."""
        self._entered.set()
        assert self._open.wait(PATIENCE)

    def reached(self) -> None:
        """Wait until a view stands here."""
        assert self._entered.wait(PATIENCE)

    def let_go(self) -> None:
        """Let it go on."""
        self._open.set()


GATE = Gate()


class Broken(Exception):
    """What a view raises."""


class Browser(Client):
    """A client that raises what its own request raised; Django's hears of those of other threads too."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._thread = get_ident()

    def store_exc_info(self, **kwargs: Any) -> None:
        """Keep an error of this thread."""
        if get_ident() == self._thread:
            super().store_exc_info(**kwargs)


@dataclass(frozen=True, slots=True)
class Web:
    """The site as a browser sees it."""

    alias: str
    atomic: bool

    def get(self, place: str) -> Any:
        """Ask for a page, and return what it says; a view's own error comes out as it is."""
        return Browser().get(f"/{place}").json()

    async def aget(self, place: str) -> Any:
        """Ask for a page from a running loop."""
        return (await AsyncClient().get(f"/{place}")).json()

    def status(self, place: str) -> int:
        """Ask for a page as a server does, and return its status."""
        code: int = Browser(raise_request_exception=False).get(f"/{place}").status_code
        return code


def told(*results: TaskResult) -> JsonResponse:
    """Answer with what enqueues came to, and whether a transaction was open."""
    said = [{"id": one.id, "created": one.created, "status": one.stored_status} for one in results]
    return JsonResponse({"results": said, "in_atomic": connections[current["alias"]].in_atomic_block})


def order(_request: HttpRequest, number: int) -> HttpResponse:
    """Charge an order."""
    return told(shop.charge.enqueue(number))


def twice(_request: HttpRequest, number: int) -> HttpResponse:
    """Charge an order twice."""
    return told(shop.charge.enqueue(number), shop.charge.enqueue(number))


def broken(_request: HttpRequest, number: int) -> HttpResponse:
    """Charge an order, and break."""
    shop.charge.enqueue(number)
    raise Broken


def undone(_request: HttpRequest, number: int) -> HttpResponse:
    """Charge an order in a block that is undone, and again after it."""
    with transaction.atomic(using=current["alias"]):
        first = shop.charge.enqueue(number)
        transaction.set_rollback(True, using=current["alias"])
    return told(first, shop.charge.enqueue(number))


def slow(request: HttpRequest, number: int) -> HttpResponse:
    """Charge an order, and take long to answer, or to break."""
    result = shop.charge.enqueue(number)
    GATE.stop()
    if "breaks" in request.GET:
        raise Broken
    return told(result)


async def awaited(_request: HttpRequest, number: int) -> HttpResponse:
    """Charge an order twice from a coroutine."""
    first, second = await shop.charge.aenqueue(number), await shop.charge.aenqueue(number)
    said = [{"id": one.id, "created": one.created, "status": one.stored_status} for one in (first, second)]
    return JsonResponse({"results": said})


def undoing(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Wrap every request in a transaction that is undone; a middleware of the kind that is sync only."""

    def middleware(request: HttpRequest) -> HttpResponse:
        alias = current["alias"]
        try:
            with transaction.atomic(using=alias):
                response = get_response(request)
                transaction.set_rollback(True, using=alias)
                return response
        finally:
            connections[alias].close()

    return middleware


urlpatterns = [path(f"{view.__name__}/<int:number>", view) for view in (order, twice, broken, undone, slow, awaited)]
