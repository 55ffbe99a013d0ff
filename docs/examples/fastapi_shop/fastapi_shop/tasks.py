"""The queue and this shop's tasks. `oxpull worker fastapi_shop.tasks:ox` runs them."""

import os

from fastapi_shop.orders import DATABASE_URL, Order, sessions
from oxpull_async import Oxpull

ox = Oxpull(DATABASE_URL, max_attempts=5, timeout=60)  # as in the Django shop's TASKS

# A task of the Django shop, known by its name: this program need not be able to import it.
# What is unique there must be unique here, or the two would not see each other's pending calls.
send_invoice = ox.remote("shop.tasks.send_invoice", unique=True)


@ox.task
async def pack_order(order_id: int) -> str:
    """Pack an order."""
    async with sessions.begin() as session:
        order = await session.get_one(Order, order_id)
        order.packed = True
        return f"packed {order.quantity} {order.product}"


# A worker of this process runs the Django shop's tasks too, if it is told where that project is. Without this their
# rows are left to the Django shop's own worker.
if "DJANGO_SETTINGS_MODULE" in os.environ:
    import django

    django.setup()
