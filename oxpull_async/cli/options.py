"""Options that several commands share, and values with units."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Concatenate

import click

from oxpull_async.app.open_database import ENVIRONMENT
from oxpull_async.cli.target import Target

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def duration(text: str) -> float:
    """Return the seconds of a figure that may have s, m, h, d or w behind it."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", text.strip().lower())
    if match is None:
        raise click.BadParameter(f"{text!r} is no duration: write seconds, or 90s, 15m, 12h, 7d, 2w")
    return float(match[1]) * _UNITS[match[2]]


def size(text: str) -> int:
    """Return the bytes of a figure that may have K, M, G or T behind it."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None or float(match[1]) <= 0:
        raise click.BadParameter(f"{text!r} is no size: write bytes, or 512M, 2G")
    return int(float(match[1]) * _SIZES[match[2]])


def names(text: str) -> tuple[str, ...]:
    """Return the names in a text with commas between them."""
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise click.BadParameter("give at least one name")
    return found


def json_option[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    """Add `--json`, passed as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def database_options[**P, R](command: Callable[Concatenate[Target, P], R]) -> Callable[..., R]:
    """Add `--url`, `--app` and `--json`; the command takes them as one Target, its first."""

    @wraps(command)
    def with_target(url: str | None, app: str | None, as_json: bool, *args: P.args, **kwargs: P.kwargs) -> R:
        return command(Target(url, app, as_json), *args, **kwargs)

    url_help = f"The database, like postgresql://user@host/name; by default {ENVIRONMENT}."
    app_help = "The database of the Oxpull in this module."
    with_app = click.option("--app", metavar="MODULE:OX", help=app_help)(json_option(with_target))
    return click.option("--url", metavar="URL", help=url_help)(with_app)
