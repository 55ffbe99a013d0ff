"""The shop's HTTP interface: JSON in, JSON out."""

import json
from uuid import uuid4

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.tasks import TaskResultStatus, default_task_backend
from django.tasks.exceptions import TaskResultDoesNotExist
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from shop.models import Order
from shop.tasks import send_invoice, store_order


@csrf_exempt  # called by programs, which send no form and no cookie
@require_POST
def place_order(request: HttpRequest) -> HttpResponse:
    """Store an order together with the task for its invoice: both are committed, or neither is."""
    wanted = json.loads(request.body)
    with transaction.atomic():
        order = Order.objects.create(reference=uuid4().hex, product=wanted["product"], quantity=wanted["quantity"])
        result = send_invoice.enqueue(order.pk)
    return JsonResponse({"reference": order.reference, "order": order.pk, "task": result.id}, status=201)


@csrf_exempt
@require_POST
async def place_order_later(request: HttpRequest) -> HttpResponse:
    """Take note of an order, and leave its storing to a worker.

    Under ASGI the asyncio driver writes the task, in a transaction of its own; it is committed when `aenqueue` returns.
    """
    wanted = json.loads(request.body)
    reference = uuid4().hex
    result = await store_order.aenqueue(reference, wanted["product"], wanted["quantity"])
    return JsonResponse({"reference": reference, "task": result.id}, status=202)


@csrf_exempt
@require_POST
@transaction.atomic
def break_after_enqueue(request: HttpRequest) -> HttpResponse:
    """Do what `place_order` does and then break: neither the order nor the task is left."""
    wanted = json.loads(request.body)
    order = Order.objects.create(reference=uuid4().hex, product=wanted["product"], quantity=wanted["quantity"])
    send_invoice.enqueue(order.pk)
    raise RuntimeError("something went wrong after the task was enqueued")


def show_order(_request: HttpRequest, reference: str) -> HttpResponse:
    """Tell how far an order is."""
    order = get_object_or_404(Order, reference=reference)
    return JsonResponse({"order": order.pk, "invoiced": order.invoiced, "packed": order.packed})


async def show_task(_request: HttpRequest, task_id: str) -> HttpResponse:
    """Tell what has become of a task, whichever program enqueued it."""
    try:
        result = await default_task_backend.aget_result(task_id)
    except TaskResultDoesNotExist:
        return JsonResponse({"error": f"no task has the id {task_id}"}, status=404)
    is_done = result.status == TaskResultStatus.SUCCESSFUL
    return JsonResponse(
        {"task": result.task.module_path, "status": result.status, "value": result.return_value if is_done else None}
    )


def health(_request: HttpRequest) -> HttpResponse:
    """Say that the server answers."""
    return HttpResponse("ok")
