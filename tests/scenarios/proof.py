"""What a scenario module offers to `make proof`: a title, the rule it shows, and a call at full size."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

EVERY_DATABASE = ("postgres", "mysql", "sqlite")
SERVERS = EVERY_DATABASE[:2]


@dataclass(frozen=True, slots=True)
class Proof:
    """One promise at full size: `run` takes the URL of an empty database, which it migrates itself.

    It returns a frozen dataclass with its figures and raises AssertionError when the promise fails. Modules of
    tests/scenarios list theirs as `PROOFS: list[Proof]`; `databases` are those that the promise concerns;
    `alone` keeps other proofs from running at the same time.
    """

    title: str
    rule: str
    run: Callable[[str], object]
    databases: tuple[str, ...] = EVERY_DATABASE
    alone: bool = False


def proof(
    title: str,
    rule: str,
    scenario: Callable[[str], Coroutine[Any, Any, object]],
    databases: tuple[str, ...] = EVERY_DATABASE,
) -> Proof:
    """Make a proof of a scenario that is a coroutine function."""
    return Proof(title, rule, lambda url: asyncio.run(scenario(url)), databases)
