"""An ASGI application whose lifespan is the Oxpull's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from oxpull_async import Oxpull
from tests.app.kit import add, count, open_oxpull, unmasked, work

pytestmark = pytest.mark.asyncio


def application(ox: Oxpull) -> Starlette:
    task = ox.task(add)

    async def enqueue(request: Request) -> JSONResponse:
        result = await task.enqueue(int(request.query_params["a"]), 1)
        return JSONResponse({"id": result.id})

    async def fail_in_a_transaction(request: Request) -> JSONResponse:
        async with ox.transaction():
            await task.enqueue(0)
            raise LookupError

    async def show(request: Request) -> JSONResponse:
        result = await ox.get_result(request.path_params["id"])
        return JSONResponse({"status": result.status, "value": result.return_value if result.is_finished else None})

    return Starlette(
        lifespan=ox.lifespan,
        routes=[
            Route("/tasks", enqueue, methods=["POST"]),
            Route("/fail", fail_in_a_transaction, methods=["POST"]),
            Route("/tasks/{id}", show),
        ],
    )


@asynccontextmanager
async def served(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """Serve an application in this process, lifespan included."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://app") as client,
    ):
        yield client


async def test_requests_enqueue_and_read_results(ox: Oxpull) -> None:
    mine = open_oxpull(unmasked(ox))
    async with served(application(mine)) as client:
        ids = [(await client.post("/tasks", params={"a": a})).json()["id"] for a in range(5)]
        await work(mine)
        shown = [(await client.get(f"/tasks/{id_}")).json() for id_ in ids]
    assert shown == [{"status": "SUCCESSFUL", "value": a + 1} for a in range(5)]


async def test_a_request_that_fails_in_its_transaction_leaves_nothing(ox: Oxpull) -> None:
    async with served(application(open_oxpull(unmasked(ox)))) as client:
        assert (await client.post("/fail")).status_code == 500
    assert await count(ox) == 0


async def test_an_application_may_be_started_twice(ox: Oxpull) -> None:
    app = application(open_oxpull(unmasked(ox)))
    for _ in range(2):
        async with served(app) as client:
            assert (await client.post("/tasks", params={"a": 1})).status_code == 200
    assert await count(ox) == 2
