"""Version 4 of the core's schema: workflows; models declared, not managed."""

from django.db import migrations, models

from compat_sync.columns import StoredJSONField
from compat_sync.schema import CoreSchema


class Migration(migrations.Migration):
    """Make the tables of workflows, or find them made."""

    atomic = False  # the core opens its own transaction where the database's DDL knows any
    dependencies = (("compat_sync", "0003_schedules"),)
    operations = (
        CoreSchema(4),
        migrations.AddField(
            model_name="oxpulltask",
            name="workflow_id",
            field=models.UUIDField(null=True, verbose_name="workflow"),
        ),
        migrations.CreateModel(
            name="OxpullWorkflow",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("backend_alias", models.CharField(max_length=128)),
                ("name", models.CharField(max_length=128)),
                ("nodes", models.IntegerField()),
                ("callbacks", StoredJSONField()),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(null=True)),
                ("sealed_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "workflow",
                "verbose_name_plural": "workflows",
                "db_table": "oxpull_workflow",
                "ordering": ("-id",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullWorkflowCounts",
            fields=[
                ("workflow_id", models.UUIDField(primary_key=True, serialize=False, verbose_name="workflow")),
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
                ("unique_key", models.CharField(max_length=64, null=True)),
            ],
            options={
                "verbose_name": "workflow counts",
                "verbose_name_plural": "workflow counts",
                "db_table": "oxpull_workflow_counts",
                "ordering": ("-workflow_id",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullWorkflowNode",
            fields=[
                ("task_id", models.UUIDField(primary_key=True, serialize=False, verbose_name="task")),
                ("workflow_id", models.UUIDField(verbose_name="workflow")),
                ("name", models.CharField(max_length=128)),
                ("unmet", models.IntegerField()),
                ("counted", models.CharField(max_length=12, null=True)),
                ("cascaded", models.BooleanField()),
                ("recheck", models.SmallIntegerField(null=True)),
            ],
            options={
                "verbose_name": "workflow node",
                "verbose_name_plural": "workflow nodes",
                "db_table": "oxpull_workflow_node",
                "ordering": ("task_id",),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="OxpullWorkflowEdge",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "upstream_id", "downstream_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("upstream_id", models.UUIDField(verbose_name="upstream task")),
                ("downstream_id", models.UUIDField(verbose_name="downstream task")),
                (
                    "on_failure",
                    models.CharField(choices=[("discard", "Discard"), ("run", "Run")], max_length=8),
                ),
                (
                    "state",
                    models.CharField(choices=[("met", "Met"), ("failed", "Failed")], max_length=8, null=True),
                ),
            ],
            options={
                "verbose_name": "workflow edge",
                "verbose_name_plural": "workflow edges",
                "db_table": "oxpull_workflow_edge",
                "ordering": ("upstream_id", "downstream_id"),
                "managed": False,
                "default_permissions": ("view",),
                "base_manager_name": "objects",
            },
        ),
    )
