"""Version 2 of the core's schema: batches; models declared, not managed."""

from django.db import migrations, models

from compat_sync.columns import StoredJSONField
from compat_sync.schema import CoreSchema


class Migration(migrations.Migration):
    """Make the tables of batches, or find them made."""

    atomic = False  # the core opens its own transaction where the database's DDL knows any
    dependencies = (("compat_sync", "0001_tasks"),)
    operations = (
        CoreSchema(2),
        migrations.AddField(
            model_name="oxpulltask",
            name="batch_id",
            field=models.UUIDField(null=True, verbose_name="batch"),
        ),
        migrations.CreateModel(
            name="OxpullBatch",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("backend_alias", models.CharField(max_length=128)),
                ("name", models.CharField(max_length=128)),
                ("members", models.IntegerField()),
                ("callbacks", StoredJSONField()),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(null=True)),
                ("sealed_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "batch",
                "verbose_name_plural": "batches",
                "db_table": "oxpull_batch",
                "ordering": ("-id",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullBatchCounts",
            fields=[
                ("batch_id", models.UUIDField(primary_key=True, serialize=False, verbose_name="batch")),
                (
                    "status",
                    models.CharField(
                        choices=[("OPEN", "Open"), ("SEALED", "Sealed"), ("COMPLETE", "Complete")], max_length=8
                    ),
                ),
                ("total", models.IntegerField(null=True)),
                ("succeeded", models.IntegerField()),
                ("failed", models.IntegerField()),
                ("unattributed", models.IntegerField()),
                ("cancelled", models.BooleanField()),
                ("completed_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "batch counts",
                "verbose_name_plural": "batch counts",
                "db_table": "oxpull_batch_counts",
                "ordering": ("-batch_id",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullBatchMember",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "task_id", "batch_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("task_id", models.UUIDField(verbose_name="task")),
                ("batch_id", models.UUIDField(verbose_name="batch")),
                ("counted", models.CharField(max_length=12, null=True)),
                ("recheck", models.SmallIntegerField(null=True)),
            ],
            options={
                "verbose_name": "batch member",
                "verbose_name_plural": "batch members",
                "db_table": "oxpull_batch_member",
                "ordering": ("task_id", "batch_id"),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
    )
