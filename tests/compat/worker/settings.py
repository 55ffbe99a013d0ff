"""Settings of the Django project whose workers the tests start as processes; the database is in the environment."""

import json
import os

from oxpull_async.drivers.url import parse_url
from tests.compat.django_aliases import entry_of, install_pymysql

install_pymysql()
DEBUG = "SITE_DEBUG" in os.environ
SECRET_KEY = "for tests only"
USE_TZ = True
INSTALLED_APPS = ["compat_sync", "tests.compat.worker"]
DATABASES = {
    "default": entry_of(parse_url(os.environ["SITE_DATABASE"])) | json.loads(os.environ.get("SITE_ENTRY", "{}"))
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TASKS = {
    "default": {
        "BACKEND": "compat_sync.backend.OxpullBackend",
        "QUEUES": [],
        "OPTIONS": {"LOCK_TIMEOUT": 2, **json.loads(os.environ.get("SITE_OPTIONS", "{}"))},
    }
}
