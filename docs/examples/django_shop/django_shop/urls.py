"""The addresses of the shop and its admin."""

from django.contrib import admin
from django.urls import path

from shop import views

urlpatterns = [
    path("orders/", views.place_order),
    path("orders/later/", views.place_order_later),
    path("orders/broken/", views.break_after_enqueue),
    path("orders/<str:reference>/", views.show_order),
    path("tasks/<str:task_id>/", views.show_task),
    path("health/", views.health),
    path("admin/", admin.site.urls),
]
