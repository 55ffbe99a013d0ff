"""The supervisor: keeps a number of worker processes alive, and stops them together.

A child reads its standard input: when that ends, the supervisor is gone and the child drains by itself.
"""

import asyncio
import logging
import signal
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from oxpull_async.runtime.pauses import Backoff
from oxpull_async.runtime.recycler import EXIT_CODE

logger = logging.getLogger("oxpull_async.supervisor")

FIRST_PAUSE, LONGEST_PAUSE, SETTLED_AFTER = 0.5, 30.0, 60.0
AT_ONCE, MOST_AT_ONCE = 2.0, 5


@dataclass(frozen=True, slots=True)
class Charge:
    """What to run, how often, and how long children may take to stop before they are killed."""

    command: Sequence[str]
    processes: int
    stop_seconds: float
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """How it ended: how often a child was started anew, how many were killed, and why it gave up, if it did."""

    restarts: int
    killed: int
    gave_up: str | None

    @property
    def is_success(self) -> bool:
        """Whether every child ended in order."""
        return not self.killed and self.gave_up is None
