"""What the readers of DATABASES entries share: settings, problems, the URL in the making.

Not here: what any key means; each driver's reader knows its own.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oxpull_async.domain.errors import UsageError
from oxpull_async.drivers.url import DatabaseUrl, Family, OptionValue, mask
from oxpull_async.drivers.url_options import find_option

__all__ = ["Draft", "Reading", "Setting", "Settings", "Surroundings", "collect", "remembered"]

_SECRET = ("pass", "pwd", "secret", "token", "client_key", "server_key")
_PORT = re.compile("[0-9]{1,5}")
_LAST_PORT = 65_535
_LONGEST_SHOWN = 200
_LEAVE_OUT = "Leave it out where tasks are to use the native driver"


@dataclass(frozen=True, slots=True)
class Setting:
    """A value of a connection, and where it was said."""

    value: Any
    origin: str


type Settings = dict[str, Setting]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a database's own client library looks at beside the entry.

    `sockets` are the places where a local server may listen, and None where the library does not look for one.
    """

    environ: Mapping[str, str]
    home: Path
    sockets: tuple[Path, ...] | None = None

    @classmethod
    def here(cls, sockets: tuple[Path, ...] | None = None) -> "Surroundings":
        """Describe this process."""
        return cls(environ=dict(os.environ), home=Path("~").expanduser(), sockets=sockets)

    def variables(self, names: Mapping[str, str]) -> Settings:
        """Collect the settings that environment variables give; `names` says which is which."""
        return {
            key: Setting(self.environ[name], f"the environment variable {name}")
            for name, key in names.items()
            if self.environ.get(name)
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """What an entry comes to: a URL, or the sentences that say why there is none."""

    url: DatabaseUrl | None
    problems: tuple[str, ...]


def collect(alias: str, entry: Mapping[str, Any], keys: Mapping[str, str], *, options_win: bool = False) -> Settings:
    """Collect what an entry says itself, in its OPTIONS and in the top-level `keys`.

    Without `options_win` the top level wins. Empty values count as not said.
    """
    here = f"DATABASES[{alias!r}]"
    options = {name: Setting(value, f"{here}['OPTIONS'][{name!r}]") for name, value in entry["OPTIONS"].items()}
    top = {name: Setting(entry[key], f"{here}[{key!r}]") for key, name in keys.items() if entry[key]}
    both = {**top, **options} if options_win else {**options, **top}
    return {name: given for name, given in both.items() if given.value not in (None, "")}


def remembered(value: Any) -> Any:
    """Copy dicts and lists all the way down, so that a later change in place is noticed."""
    if isinstance(value, Mapping):
        return {key: remembered(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, list) else value


class Draft:
    """The URL of an entry in the making, with the problems found on the way."""

    def __init__(self, family: Family, settings: Settings) -> None:
        self.family = family
        self.settings = settings
        self.options: dict[str, OptionValue] = {}
        self.problems: list[str] = []

    def text(self, key: str) -> str | None:
        """Return a setting as text, None where it was not said."""
        given = self.settings.get(key)
        if given is None:
            return None
        if callable(given.value) or isinstance(given.value, Mapping):
            self.refuse(key, "a text is needed")
            return None
        return written(given.value)

    def port(self) -> int | None:
        """Return the port, None where it was not said."""
        text = self.text("port")
        if text is None:
            return None
        if _PORT.fullmatch(text) and 1 <= int(text) <= _LAST_PORT:
            return int(text)
        self.refuse("port", "one number from 1 to 65535 is needed", "Name one server")
        return None

    def option(self, name: str, key: str, value: object = None) -> None:
        """Set a URL option from a setting or the given value; one out of range is a problem."""
        text = self.text(key) if value is None else written(value)
        if text is None:
            return
        try:
            self.options[name] = find_option(self.family, name).read(text)
        except UsageError as error:
            self.refuse(key, str(error).partition(": ")[2].rstrip(".") or str(error), "Change it")

    def refuse(self, key: str, reason: str, way_out: str = _LEAVE_OUT) -> None:
        """Note that a setting cannot be expressed."""
        given = self.settings[key]
        self.problems.append(f"{given.origin} is {_shown(key, given.value)}: {reason}. {way_out}.")

    def refuse_others(self, known: frozenset[str], same: Mapping[str, frozenset[str]], ways: Mapping[str, str]) -> None:
        """Refuse every setting that is neither known nor says what the native driver does anyway.

        `ways` names a way out where there is a better one than to leave the key out.
        """
        for key, given in self.settings.items():
            if key not in known and written(given.value).lower() not in same.get(key, ()):
                self.refuse(key, "the native driver cannot do that", ways.get(key, _LEAVE_OUT))

    def finish(self, make: Callable[[], DatabaseUrl]) -> Reading:
        """Return the URL that `make` builds, or the problems if there are any."""
        return Reading(None, tuple(self.problems)) if self.problems else Reading(make(), ())


def written(value: object) -> str:
    """Write a value as the client libraries do."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _shown(key: str, value: object) -> str:
    if any(word in key.lower() for word in _SECRET):
        return "***"
    text = mask(repr(value))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
