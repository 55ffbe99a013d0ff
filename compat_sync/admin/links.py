"""Links between our pages, and values as people read them."""

import json
from typing import Any

from django.contrib.admin.utils import quote
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

__all__ = ["badge", "pretty", "task_link", "url_of"]


def url_of(model: str, key: Any, site: str) -> str:
    """Return the address of a row's page; `model` is its lower-case name."""
    return reverse(f"admin:compat_sync_{model}_change", args=[quote(str(key))], current_app=site)


def task_link(id_: Any, site: str) -> SafeString:
    """Return a link to a task's page, a dash for none."""
    if id_ is None:
        return SafeString("-")
    return format_html('<a href="{}">{}</a>', url_of("oxpulltask", id_, site), id_)


def badge(status: str) -> SafeString:
    """Return a status as a coloured word."""
    return format_html('<span class="oxpull-badge oxpull-{}">{}</span>', status.lower(), status)


def pretty(value: Any) -> str:
    """Return JSON over several lines, as plain text that is yet to be escaped."""
    return json.dumps(value, ensure_ascii=False, indent=2)
