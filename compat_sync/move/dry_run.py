"""How a dry run ends each of its transactions."""

__all__ = ["DryRun"]


class DryRun(Exception):
    """Takes a transaction back."""
