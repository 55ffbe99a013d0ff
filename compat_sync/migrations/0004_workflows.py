"""Version 4 of the core's schema: workflows; models declared, not managed."""

from django.db import migrations, models

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
    )
