"""What a plain `oxpull worker` serves in a process where Django is set up."""

import django

django.setup()

from oxpull_async import Oxpull  # noqa: E402

ox = Oxpull(lease_seconds=2)
