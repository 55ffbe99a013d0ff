"""Settings: an ordinary project, `compat_sync` in INSTALLED_APPS, and TASKS."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

BASE_DIR = Path(__file__).resolve().parent.parent


def database(url: str) -> dict[str, Any]:
    """Read a URL like postgresql://user:password@host/shop, mysql://… or sqlite:////folder/shop.db."""
    parts = urlsplit(url)
    engine = {"postgresql": "postgresql", "mysql": "mysql", "sqlite": "sqlite3"}[parts.scheme]
    return {
        "ENGINE": f"django.db.backends.{engine}",
        "NAME": unquote(parts.path.removeprefix("/")),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
    }


# One database for orders and tasks, so that one transaction covers both. The FastAPI shop reads the same variable.
DATABASES = {"default": database(os.environ.get("OXPULL_DATABASE_URL", f"sqlite:///{BASE_DIR.parent / 'shop.db'}"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True  # required: stored instants are UTC
TIME_ZONE = "UTC"  # that of the pages; any will do

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "compat_sync",  # the tables of tasks, the worker, the pages in the admin
    "shop",
]

# Enough for most projects. docs/django-settings.md has everything that may stand beside QUEUES.
TASKS = {
    "default": {
        "BACKEND": "compat_sync.backend.OxpullBackend",
        "QUEUES": ["default"],
        "OPTIONS": {"MAX_ATTEMPTS": 5, "TASK_TIMEOUT": 60},
    }
}

# From here on nothing has to do with tasks.
SECRET_KEY = os.environ.get("SECRET_KEY", "change me before this leaves your machine")
DEBUG = os.environ.get("DEBUG", "1") == "1"
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
ROOT_URLCONF = "django_shop.urls"
ASGI_APPLICATION = "django_shop.asgi.application"
STATIC_URL = "static/"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
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
]
