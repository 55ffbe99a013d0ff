"""Offer the async core to blocking Django code on Django's own connection."""

__all__: list[str] = []
