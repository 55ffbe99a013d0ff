"""The router of the tests: compat_sync's tables lie in whichever database a test is about."""

from typing import Any

__all__ = ["CurrentRouter", "current"]

current = {"alias": "default"}


class CurrentRouter:
    """Sends every model to the database that the running test has chosen."""

    def db_for_read(self, _model: type, **_hints: Any) -> str:
        """Name the database to read from."""
        return current["alias"]

    def db_for_write(self, _model: type, **_hints: Any) -> str:
        """Name the database to write to."""
        return current["alias"]

    def allow_relation(self, *_objects: object, **_hints: Any) -> bool:
        """Allow any two objects to meet."""
        return True
