"""Moving a project from django-ox and its oxpull app."""

from compat_sync.move.mover import (
    MoveReport,
    MoveRequest,
    move,
)

__all__ = ["MoveReport", "MoveRequest", "move"]
