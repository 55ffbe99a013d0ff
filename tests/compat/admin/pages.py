"""What a page shows, as its reader sees it."""

import re
from html import unescape
from typing import Any

from django.test import Client

__all__ = ["LIST", "QUEUES", "act", "ids_on", "messages_of", "page_of", "text"]

LIST = "/admin/compat_sync/oxpulltask/"
QUEUES = f"{LIST}queues/"
_UUID = re.compile(r"/oxpulltask/([0-9a-f-]{36})/change/")
_MESSAGE = re.compile(r'<li class="(?:success|warning|error|info)">(.*?)</li>', re.DOTALL)


def text(response: Any) -> str:
    """Return the whole page, which must have been made."""
    assert response.status_code == 200, response.status_code
    found: str = response.content.decode()
    return found


def ids_on(client: Client, **query: str) -> set[str]:
    """List the tasks that a task list links to."""
    return set(_UUID.findall(text(client.get(LIST, query))))


def page_of(client: Client, id_: str) -> str:
    """Return the page of a task."""
    return text(client.get(f"{LIST}{id_}/change/"))


def messages_of(response: Any) -> list[str]:
    """List what the page tells at its top."""
    return [unescape(found) for found in _MESSAGE.findall(text(response))]


def act(client: Client, action: str, ids: list[str], **more: str) -> list[str]:
    """Carry an action of the list out, and list what the page then tells."""
    form = {"action": action, "index": "0", "_selected_action": ids, **more}
    return messages_of(client.post(LIST, form, follow=True))
