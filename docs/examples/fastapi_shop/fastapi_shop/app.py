"""The shop's HTTP interface: `uvicorn fastapi_shop.app:app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from uuid import uuid4

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field
from sqlalchemy import select

from fastapi_shop.orders import Order, sessions
from fastapi_shop.tasks import ox, pack_order, send_invoice
from oxpull_async import TaskStatus
from oxpull_async.errors import TaskResultDoesNotExist


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    """Refuse to start where the tables of tasks are missing, and close its pool when the server stops.

    The look also switches a SQLite file to WAL, which could not be done in the middle of a transaction.
    """
    async with ox:
        await ox.check_schema()
        yield


app = FastAPI(lifespan=lifespan)


class Wanted(BaseModel):
    """What a customer sends."""

    product: Annotated[str, Field(max_length=100)]
    quantity: Annotated[int, Field(ge=1)]


@app.post("/orders/", status_code=201)
async def place_order(wanted: Wanted) -> dict[str, Any]:
    """Store an order together with its two tasks, one of each shop: all are committed, or nothing is."""
    order = Order(reference=uuid4().hex, product=wanted.product, quantity=wanted.quantity)
    async with sessions.begin() as session:
        session.add(order)
        await session.flush()  # gives the order its id
        async with ox.join(session):
            invoice = await send_invoice.enqueue(order.id)
            packing = await pack_order.enqueue(order.id)
        placed = {"reference": order.reference, "order": order.id}
    return placed | {"invoice": invoice.id, "packing": packing.id}


@app.post("/orders/{order_id}/invoice/", status_code=202)
async def ask_for_invoice(order_id: int) -> dict[str, Any]:
    """Ask for an invoice; if one is pending already, whoever asked, the answer is that task."""
    result = await send_invoice.enqueue(order_id)
    return {"task": result.id, "created": result.created}


@app.get("/orders/{reference}/")
async def show_order(reference: str) -> dict[str, Any]:
    """Tell how far an order is."""
    async with sessions() as session:
        order = await session.scalar(select(Order).where(Order.reference == reference))
    if order is None:
        raise HTTPException(404, f"no order has the reference {reference}")
    return {"order": order.id, "invoiced": order.invoiced, "packed": order.packed}


@app.get("/tasks/{task_id}/")
async def show_task(task_id: str) -> dict[str, Any]:
    """Tell what has become of a task, whichever program enqueued it."""
    try:
        result = await ox.get_result(task_id)
    except TaskResultDoesNotExist as unknown:
        raise HTTPException(404, str(unknown)) from unknown
    is_done = result.status is TaskStatus.SUCCESSFUL
    return {
        "task": result.task_path,
        "status": result.status,
        "value": result.return_value if is_done else None,
    }


@app.get("/health/")
async def health() -> str:
    """Say that the server answers."""
    return "ok"
