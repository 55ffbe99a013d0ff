"""A later one, whose schema file adds nothing."""

from django.db import migrations

from compat_sync.schema import CoreSchema


class Migration(migrations.Migration):
    """Go one version further."""

    atomic = False
    dependencies = (("compat_sync", "0001_tasks"),)
    operations = (CoreSchema(2),)
