"""The tasks: ordinary functions below Django's own decorator. `manage.py oxpull_worker` runs them.

A task may run again after a crash, so each can be repeated without harm.
"""

from django.db import transaction
from django.tasks import task

from compat_sync.unique import unique
from shop.models import Order


@unique  # asked for twice while it is pending, it is stored once
@task
def send_invoice(order_id: int) -> str:
    """Send the invoice of an order."""
    order = Order.objects.get(pk=order_id)
    order.invoiced = True
    order.save(update_fields=["invoiced"])
    return f"invoice for {order}"


@task
def store_order(reference: str, product: str, quantity: int) -> int:
    """Store an order that a view has only taken note of; its reference keeps a second run from storing it again."""
    with transaction.atomic():
        order, _ = Order.objects.get_or_create(reference=reference, defaults={"product": product, "quantity": quantity})
        if not order.invoiced:
            send_invoice.enqueue(order.pk)  # in the same transaction as the order
    return order.pk
