"""How far the test kit has moved the database's clock; in production not at all."""

__all__ = ["offset", "set_offset"]

_moved = {"seconds": 0.0}


def offset() -> float:
    """Return the seconds that every statement adds to the database's clock."""
    return _moved["seconds"]


def set_offset(seconds: float) -> None:
    """Move the clock that statements see; for the test kit only."""
    _moved["seconds"] = seconds
