"""Settings of the measured site; the database is in the environment."""

import os

from oxpull_async.drivers.url import parse_url
from tests.compat.django_aliases import entry_of, install_pymysql

install_pymysql()
SECRET_KEY = "for tests only"
USE_TZ = True
INSTALLED_APPS = ["compat_sync"]
DATABASES = {"default": entry_of(parse_url(os.environ["OXPULL_DATABASE_URL"]))}
DATABASES["default"] |= {"CONN_MAX_AGE": 600 if os.environ.get("SITE_KEEPS_CONNECTIONS") else 0}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TASKS = {"default": {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": []}}
ROOT_URLCONF = "tests.scenarios.django_site.views"
ALLOWED_HOSTS = ["site"]
MIDDLEWARE: list[str] = []
LOGGING_CONFIG = None
