"""Moving a project from django-ox and its oxpull app."""

from compat_sync.move.mover import move
from compat_sync.move.report import MoveReport, MoveRequest

__all__ = ["MoveReport", "MoveRequest", "move"]
