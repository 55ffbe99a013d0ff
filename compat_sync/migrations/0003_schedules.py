"""Version 3 of the core's schema: schedules and their ticks; models declared, not managed."""

from django.db import migrations, models

from compat_sync.columns import StoredJSONField
from compat_sync.schema import CoreSchema


class Migration(migrations.Migration):
    """Make the tables, or find them made."""

    atomic = False  # the core opens its own transaction where the database's DDL knows any
    dependencies = (("compat_sync", "0002_batches"),)
    operations = (
        CoreSchema(3),
        migrations.CreateModel(
            name="OxpullSchedule",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("backend_alias", models.CharField(max_length=128)),
                ("name", models.CharField(max_length=128)),
                ("declared", models.BooleanField()),
                ("cron", models.CharField(max_length=128, null=True)),
                ("every", models.FloatField(null=True)),
                ("phase", models.FloatField()),
                ("tz", models.CharField(max_length=64, verbose_name="time zone")),
                ("repeated_hour", models.CharField(max_length=8)),
                ("catch_up", models.CharField(max_length=8)),
                ("max_age", models.FloatField(null=True)),
                ("overlap", models.CharField(max_length=8)),
                ("task_path", models.CharField(max_length=255, verbose_name="task")),
                ("args", StoredJSONField()),
                ("kwargs", StoredJSONField()),
                ("queue_name", models.CharField(max_length=128, null=True, verbose_name="queue")),
                ("priority", models.SmallIntegerField(null=True)),
                ("paused", models.BooleanField()),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField(null=True)),
                ("last_tick_at", models.DateTimeField(null=True, verbose_name="last tick")),
                ("next_at", models.DateTimeField(null=True, verbose_name="next tick")),
                ("last_task_id", models.UUIDField(null=True, verbose_name="last task")),
                ("version", models.BigIntegerField()),
                ("created_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "schedule",
                "verbose_name_plural": "schedules",
                "db_table": "oxpull_schedule",
                "ordering": ("backend_alias", "name"),
                "managed": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullTick",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "backend_alias",
                        "name",
                        "tick_at",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("backend_alias", models.CharField(max_length=128)),
                ("name", models.CharField(max_length=128)),
                ("tick_at", models.DateTimeField()),
                ("task_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "tick",
                "verbose_name_plural": "ticks",
                "db_table": "oxpull_tick",
                "ordering": ("backend_alias", "name", "tick_at"),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
    )
