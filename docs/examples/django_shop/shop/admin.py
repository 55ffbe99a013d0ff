"""Orders in the admin; the pages of tasks come with `compat_sync`."""

from django.contrib import admin

from shop.models import Order


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    """The list of orders."""

    list_display = ("reference", "product", "quantity", "invoiced", "packed")
