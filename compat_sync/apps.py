"""The Django app: its models, migrations and checks."""

from django.apps import AppConfig
from django.db.models.signals import pre_migrate

from compat_sync.schema import before_migrate

__all__ = ["CompatSyncConfig"]


class CompatSyncConfig(AppConfig):
    """What `"compat_sync"` in INSTALLED_APPS brings in."""

    name = "compat_sync"
    label = "compat_sync"
    verbose_name = "Tasks"

    def ready(self) -> None:
        """Register checks and tasks, Django's own checks of tasks too, and watch over migrations."""
        import django.tasks  # noqa: F401

        from compat_sync import checks
        from compat_sync.worker import host

        checks.register()
        host.register()
        pre_migrate.connect(before_migrate, sender=self, dispatch_uid="compat_sync.schema")
