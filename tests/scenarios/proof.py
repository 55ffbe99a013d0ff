"""What a scenario module offers to `make proof`: a title, the rule it shows, and a call at full size."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proof:
    """One promise at full size: `run` takes the URL of an empty database, which it migrates itself.

    It returns a frozen dataclass with its figures and raises AssertionError when the promise fails. Modules of
    tests/scenarios list theirs as `PROOFS: list[Proof]`.
    """

    title: str
    rule: str
    run: Callable[[str], object]
