"""What Django's own fields make of a task; the table belongs to `sql/<dialect>/schema/`."""

from typing import Any

from django.db import models

from tests.compat.django_aliases import configure

configure()


class TaskRow(models.Model):
    """A task as Django's ORM reads it."""

    id: Any = models.UUIDField(primary_key=True)
    args: Any = models.JSONField()
    kwargs: Any = models.JSONField()
    run_after: Any = models.DateTimeField(null=True)
    enqueued_at: Any = models.DateTimeField()
    priority: Any = models.SmallIntegerField()
    status: Any = models.CharField(max_length=12)
    timeout: Any = models.FloatField(null=True)
    begun: Any = models.BooleanField()
    leased_by: Any = models.UUIDField(null=True)
    errors: Any = models.JSONField()

    class Meta:
        app_label = "conformance"
        managed = False
        db_table = "oxpull_task"

    def __str__(self) -> str:
        return str(self.id)
