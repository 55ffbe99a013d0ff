"""Serve an ASGI application on the loopback interface while a block runs."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette

from oxpull_async.demo.failed import DemoFailed

HOST = "127.0.0.1"


class Server(uvicorn.Server):
    """A uvicorn server that leaves the process's signals to the demo."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signals."""
        yield


@asynccontextmanager
async def served(app: Starlette, port: int) -> AsyncIterator[str]:
    """Serve on a port, 0 for any free one; gives the address.

    Raises: DemoFailed when the port is taken or not allowed.
    """
    listening = _listen(port)
    server = Server(uvicorn.Config(app, lifespan="on", log_level="warning", access_log=False))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://{HOST}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listening.close()


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise DemoFailed(
            f"Port {port} of {HOST} {reason}: choose another with --port, or leave it away for any free one."
        ) from error
