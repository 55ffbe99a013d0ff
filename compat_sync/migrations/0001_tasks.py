"""Version 1 of the core's schema: tasks, workers, queues; models declared, not managed."""

from django.db import migrations, models

from compat_sync.columns import StoredJSONField
from compat_sync.schema import CoreSchema


class Migration(migrations.Migration):
    """Make the tables, or find them made."""

    initial = True
    atomic = False  # the core opens its own transaction where the database's DDL knows any
    dependencies = ()
    operations = (
        CoreSchema(1),
        migrations.CreateModel(
            name="OxpullTask",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("backend_alias", models.CharField(max_length=128)),
                ("task_path", models.CharField(max_length=255)),
                ("queue_name", models.CharField(max_length=128, verbose_name="queue")),
                ("priority", models.SmallIntegerField()),
                ("rank", models.SmallIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("READY", "Ready"),
                            ("WAITING", "Waiting"),
                            ("RUNNING", "Running"),
                            ("SUCCESSFUL", "Successful"),
                            ("FAILED", "Failed"),
                            ("LOST", "Lost"),
                            ("DISCARDED", "Discarded"),
                        ],
                        max_length=12,
                    ),
                ),
                ("due", models.SmallIntegerField(null=True)),
                ("waiting_for", models.CharField(max_length=12, null=True)),
                ("args", StoredJSONField()),
                ("kwargs", StoredJSONField()),
                ("run_after", models.DateTimeField(null=True)),
                ("available_at", models.DateTimeField()),
                ("enqueued_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("last_attempted_at", models.DateTimeField(null=True)),
                ("prior_attempted_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField()),
                ("max_attempts", models.IntegerField()),
                ("epoch", models.BigIntegerField()),
                ("begun", models.BooleanField()),
                ("refunds", models.SmallIntegerField()),
                ("snoozes", models.SmallIntegerField()),
                ("timeout", models.FloatField(null=True)),
                ("leased_by", models.UUIDField(null=True, verbose_name="worker")),
                ("worker_ids", StoredJSONField()),
                ("errors", StoredJSONField()),
                ("return_value", StoredJSONField(null=True)),
                ("progress", StoredJSONField(null=True)),
                ("cancel_requested", models.BooleanField()),
                ("unique_key", models.CharField(max_length=64, null=True)),
                ("reruns", models.BooleanField()),
                ("recheck", models.SmallIntegerField(null=True)),
                ("lock_key", models.CharField(max_length=64, null=True)),
                ("lock_limit", models.IntegerField(null=True)),
                ("lock_conflict", models.CharField(max_length=8, null=True)),
                ("limit_keys", models.CharField(max_length=255, null=True)),
            ],
            options={
                "verbose_name": "task",
                "verbose_name_plural": "tasks",
                "db_table": "oxpull_task",
                "ordering": ("-id",),
                "managed": False,
                "default_permissions": ("change", "view"),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullUniqueKey",
            fields=[
                ("unique_key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("holder_id", models.UUIDField(verbose_name="holder")),
                ("follow_up_id", models.UUIDField(null=True, verbose_name="follow-up")),
                ("first_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "unique key",
                "verbose_name_plural": "unique keys",
                "db_table": "oxpull_unique",
                "ordering": ("unique_key",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullLock",
            fields=[
                ("lock_key", models.CharField(max_length=64, primary_key=True, serialize=False)),
            ],
            options={
                "verbose_name": "running lock",
                "verbose_name_plural": "running locks",
                "db_table": "oxpull_lock",
                "ordering": ("lock_key",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullWorker",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("backend_alias", models.CharField(max_length=128)),
                ("hostname", models.CharField(max_length=255)),
                ("pid", models.IntegerField(verbose_name="process id")),
                ("queues", StoredJSONField(null=True)),
                ("concurrency", models.IntegerField()),
                ("started_at", models.DateTimeField()),
                ("renewed_at", models.DateTimeField()),
                ("lease_expires_at", models.DateTimeField()),
                ("dead", models.BooleanField()),
                ("notes", StoredJSONField()),
            ],
            options={
                "verbose_name": "worker",
                "verbose_name_plural": "workers",
                "db_table": "oxpull_worker",
                "ordering": ("-id",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullQueue",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "backend_alias", "queue_name", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("backend_alias", models.CharField(max_length=128)),
                ("queue_name", models.CharField(max_length=128, verbose_name="queue")),
                ("paused", models.BooleanField()),
                ("changed_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "queue",
                "verbose_name_plural": "queues",
                "db_table": "oxpull_queue",
                "ordering": ("backend_alias", "queue_name"),
                "managed": False,
                "default_permissions": ("change", "view"),
                "base_manager_name": "objects",
            },
        ),
    )
