"""Django's system checks of a project's tasks."""

from compat_sync.checks.messages import (
    backend_messages,
    check_installation,
    check_schema,
    our_entries,
    register,
)

__all__ = ["backend_messages", "check_installation", "check_schema", "our_entries", "register"]
