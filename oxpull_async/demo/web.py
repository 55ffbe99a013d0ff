"""The demo's web application: one request stores a task per file and one that sums up."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from oxpull_async.demo.modules import find_sources, module_name
from oxpull_async.demo.tasks import index_file, ox, sum_files
from oxpull_async.errors import OxpullError


async def index(request: Request) -> JSONResponse:
    """Enqueue everything in one transaction: either all of it is stored, or nothing."""
    wanted = await request.json()
    root, pace = Path(wanted["root"]), float(wanted["pace"])
    sources = find_sources(root, wanted["limit"])
    calls = [index_file.call(str(path), module_name(root, path), pace) for path in sources]
    async with ox.transaction():
        files = [result.id for result in await ox.enqueue_many(calls)]
        totals = await sum_files.enqueue(files)
    return JSONResponse({"files": files, "totals": totals.id}, status_code=202)


async def refused(_request: Request, error: Exception) -> PlainTextResponse:
    """Answer with what was wrong."""
    return PlainTextResponse(str(error), status_code=503)


app = Starlette(
    routes=[Route("/index", index, methods=["POST"])],
    exception_handlers={OxpullError: refused},
    lifespan=ox.lifespan,
)
