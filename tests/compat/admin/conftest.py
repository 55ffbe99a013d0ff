"""A site with an admin over a database of each kind, and people with permissions."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import connections
from django.test import Client, override_settings

from tests.compat.django_aliases import configure

configure()

BUILT_IN = "django.contrib.{}.middleware.{}Middleware"
SITE = {
    "ROOT_URLCONF": "tests.compat.admin.urls",
    "STATIC_URL": "/static/",
    "ALLOWED_HOSTS": ["testserver"],
    "MIDDLEWARE": [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    "TEMPLATES": [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
}
migrated: set[str] = set()

type LogIn = Callable[..., Client]


@pytest.fixture
def admin_site(site: str) -> Iterator[str]:
    """Give the site pages and people; its database has the tables of both."""
    name = str(connections[site].settings_dict["NAME"])
    with override_settings(**SITE):
        if name not in migrated:
            call_command("migrate", database=site, verbosity=0)
            migrated.add(name)
        LogEntry.objects.all().delete()
        yield site


@pytest.fixture
def log_in(admin_site: str) -> LogIn:
    """Log somebody in who has these permissions, like "view_oxpulltask", and no others."""

    def log_in(*permissions: str, **options: Any) -> Client:
        User.objects.filter(username="ann").delete()
        user = User.objects.create_user("ann", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        client = Client(**options)
        client.force_login(user)
        return client

    return log_in


@pytest.fixture
def viewer(log_in: LogIn) -> Client:
    """Log somebody in who may look at everything."""
    models = ("task", "uniquekey", "lock", "worker", "queue", "batch", "workflow")
    return log_in(*(f"view_oxpull{name}" for name in models))


@pytest.fixture
def operator(log_in: LogIn) -> Client:
    """Log somebody in who may look at tasks, and change tasks and queues."""
    return log_in("view_oxpulltask", "change_oxpulltask", "change_oxpullqueue")
