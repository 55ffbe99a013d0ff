"""Compare the rate limits of all entries of TASKS, which are one fleet's."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from compat_sync.checks.catalog import Problem
from compat_sync.options import examine
from oxpull_async.domain.rate_limit import LimitRule

__all__ = ["rate_limit_problems"]

type _Declared = dict[str, dict[str, LimitRule]]


def rate_limit_problems(entries: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """List the names that aliases declare differently, and those that look alike."""
    declared: _Declared = {}
    for alias, params in sorted(entries.items()):
        for rule in examine(alias, params)[0].settings.rate_limits.rules:
            declared.setdefault(rule.name, {})[alias] = rule
    for name, rules in declared.items():
        yield from _different(name, rules)
    yield from _alike(declared)


def _different(name: str, rules: Mapping[str, LimitRule]) -> Iterator[Problem]:
    periods = {alias: f"{rule.per:g}" for alias, rule in rules.items()}
    limits = {alias: f"{rule.limit}" for alias, rule in rules.items()}
    if len({rule.per for rule in rules.values()}) > 1:
        text = f"The rate limit {name!r} has different periods in TASKS: {_listed(periods)} seconds."
        yield Problem("W005", text)
    elif len({rule.limit for rule in rules.values()}) > 1:
        yield Problem("W004", f"The rate limit {name!r} has different limits in TASKS: {_listed(limits)}.")


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{value} in {alias!r}" for alias, value in values.items())


def _alike(declared: _Declared) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for name in sorted(declared):
        other = seen.setdefault(_plain(name), name)
        if other != name:
            text = f"TASKS has the rate limits {other!a} and {name!a}, which differ by case or accents only."
            yield Problem("W006", text)


def _plain(name: str) -> str:
    """Return a name without case and accents."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
