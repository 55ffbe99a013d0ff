"""Tasks as a project declares them before the move and after it."""

from django.tasks import task

RAN: list[tuple[str, int]] = []


@task
def send_invoice(order_id: int, *, copy: bool = False) -> str:
    """Send an invoice."""
    RAN.append(("send_invoice", order_id))
    return f"invoice {order_id}{' (copy)' if copy else ''}"


@task
def charge(order_id: int) -> None:
    """Charge an order; the settings make it unique."""
    RAN.append(("charge", order_id))


@task
def fail(text: str) -> None:
    """Raise an error."""
    raise ValueError(text)


@task
def note(word: str) -> None:
    """Note that something has completed."""
    RAN.append((word, 0))
