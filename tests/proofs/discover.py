"""Find the proofs that the modules of tests/scenarios offer."""

import importlib
import pkgutil
from dataclasses import dataclass

from tests import scenarios
from tests.scenarios.proof import Proof


@dataclass(frozen=True, slots=True)
class Listed:
    """A proof and the module that offers it."""

    module: str
    proof: Proof

    @property
    def description(self) -> str:
        """The text that `--only` looks into."""
        return f"{self.module} {self.proof.title} {self.proof.rule}"


def listed() -> list[Listed]:
    """Import every scenario and list its proofs, modules in order of name; those that want to be alone come first."""
    names = sorted(module.name for module in pkgutil.iter_modules(scenarios.__path__))
    found = [
        Listed(name, proof)
        for name in names
        if name != "app"  # what the worker processes import, with settings of their own
        for proof in getattr(importlib.import_module(f"{scenarios.__name__}.{name}"), "PROOFS", ())
    ]
    return sorted(found, key=lambda one: not one.proof.alone)
