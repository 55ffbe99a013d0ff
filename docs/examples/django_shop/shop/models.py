"""Orders."""

from django.db import models


class Order(models.Model):
    """What a customer wants; the tasks tell by the two flags what they did."""

    reference = models.CharField(max_length=64, unique=True)
    product = models.CharField(max_length=100)
    quantity = models.PositiveIntegerField()
    invoiced = models.BooleanField(default=False)
    packed = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.quantity} {self.product} ({self.reference})"
