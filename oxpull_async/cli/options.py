"""Options that several commands share, and values with units."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

import click

from oxpull_async.app.open_database import ENVIRONMENT
from oxpull_async.cli.target import Target

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Age(click.ParamType):
    """A duration: seconds, or a figure with s, m, h, d or w."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        if isinstance(value, (int, float)):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", value.strip().lower())
        if match is None:
            self.fail(f"{value!r} is no duration: write seconds, or 90s, 15m, 12h, 7d, 2w", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


class Size(click.ParamType):
    """A number of bytes: plain, or with K, M, G or T."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", value.strip().lower())
        if match is None or float(match[1]) <= 0:
            self.fail(f"{value!r} is no size: write bytes, or 512M, 2G", param, ctx)
        return int(float(match[1]) * _SIZES[match[2]])


class Names(click.ParamType):
    """Names with commas between them."""

    name = "a,b"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names."""
        if isinstance(value, tuple):
            return value
        names = tuple(part.strip() for part in value.split(",") if part.strip())
        if not names:
            self.fail("give at least one name", param, ctx)
        return names


def json_option[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    """Add `--json`, passed as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def database_options[**P, R](command: Callable[Concatenate[Target, P], R]) -> Callable[..., R]:
    """Add `--url`, `--app` and `--json`; the command takes them as its first parameter, a Target."""

    @wraps(command)
    def with_target(url: str | None, app: str | None, as_json: bool, *args: P.args, **kwargs: P.kwargs) -> R:
        return command(Target(url, app, as_json), *args, **kwargs)

    options = json_option(with_target)
    options = click.option("--app", metavar="MODULE:OX", help="Use the Oxpull of this module, as `worker` does.")(options)
    text = f"The database, like postgresql://user@host/name; by default {ENVIRONMENT}."
    return click.option("--url", metavar="URL", help=text)(options)
