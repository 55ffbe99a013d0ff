"""Version 5 of the core's schema: rate limits; models declared, not managed."""

from django.db import migrations, models

from compat_sync.columns import StoredJSONField
from compat_sync.schema import CoreSchema


class Migration(migrations.Migration):
    """Make the tables of rate limits, or find them made."""

    atomic = False  # the core opens its own transaction where the database's DDL knows any
    dependencies = (("compat_sync", "0004_workflows"),)
    operations = (
        CoreSchema(5),
        migrations.CreateModel(
            name="OxpullRateLimit",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "worker_id", "name", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("worker_id", models.UUIDField(verbose_name="worker")),
                ("name", models.CharField(max_length=128)),
                ("backend_alias", models.CharField(max_length=128)),
                ("most", models.IntegerField(verbose_name="limit")),
                ("per", models.FloatField()),
                ("sliding", models.BooleanField()),
                ("tasks", StoredJSONField()),
                ("queues", StoredJSONField()),
            ],
            options={
                "verbose_name": "rate limit",
                "verbose_name_plural": "rate limits",
                "db_table": "oxpull_rate_limit",
                "ordering": ("name", "worker_id"),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullRateWindow",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "name", "limit_key", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=128, verbose_name="rate limit")),
                ("limit_key", models.CharField(max_length=16, verbose_name="key")),
                ("started_at", models.DateTimeField()),
                ("used", models.IntegerField()),
                ("held_until", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "rate window",
                "verbose_name_plural": "rate windows",
                "db_table": "oxpull_rate_window",
                "ordering": ("name", "limit_key"),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullRateStart",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "name",
                        "limit_key",
                        "started_at",
                        "task_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=128, verbose_name="rate limit")),
                ("limit_key", models.CharField(max_length=16, verbose_name="key")),
                ("started_at", models.DateTimeField()),
                ("task_id", models.UUIDField(verbose_name="task")),
                ("epoch", models.BigIntegerField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "rate-limited start",
                "verbose_name_plural": "rate-limited starts",
                "db_table": "oxpull_rate_start",
                "ordering": ("name", "limit_key", "started_at", "task_id"),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
    )
