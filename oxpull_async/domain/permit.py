"""Permits: the starts that rate limits count, each in one window of one limit."""

from dataclasses import dataclass
from datetime import datetime

type WindowKey = tuple[str, str]
"""The name of a limit, and the key under which it counts."""


@dataclass(frozen=True, slots=True)
class Permit:
    """One start that was counted.

    In the fixed window that began at `started_at`; None where the limit slides.
    """

    window: WindowKey
    started_at: datetime | None
