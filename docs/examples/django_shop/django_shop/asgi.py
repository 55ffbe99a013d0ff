"""What an ASGI server serves: `uvicorn django_shop.asgi:application`."""

import os

from django.conf import settings
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "django_shop.settings")
application = get_asgi_application()
if settings.DEBUG:  # the admin's style sheets, which `runserver` serves by itself
    application = ASGIStaticFilesHandler(application)
