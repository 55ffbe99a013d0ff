"""Decide which server serves the tests: a named one, one that answers, an installed one."""

import getpass
import os
from dataclasses import dataclass

from tests.servers import clients, launch
from tests.servers.facts import FACTS, Kind, ServerUnavailable, local_url, without_password


@dataclass(frozen=True, slots=True)
class Found:
    """A server that serves the tests; `home` is its folder if the tests started it."""

    kind: Kind
    url: str
    note: str
    home: str = ""


def find_or_start(kind: Kind) -> Found:
    """Give the first server that can serve the tests, or say why there is none."""
    found = find(kind)
    if found:
        return found
    executable = launch.program(kind)
    if executable is None:
        raise ServerUnavailable(how_to_get(kind))
    url, home = launch.start(kind, executable)
    return Found(
        kind, url, f"{clients.version(kind, url)}, started for the tests at {without_password(url)}", str(home)
    )


def find(kind: Kind) -> Found | None:
    """Look for a running server: the named one, which must answer, or a local one, which may."""
    facts = FACTS[kind]
    named = os.environ.get(facts.variable)
    if named:
        return _named(kind, named)
    if os.environ.get("OXPULL_TEST_OWN_SERVERS"):
        return None
    for user in dict.fromkeys([getpass.getuser(), *facts.users]):
        url = local_url(kind, user, facts.port)
        try:
            return Found(kind, url, f"{clients.version(kind, url)}, answers at {without_password(url)}")
        except ServerUnavailable:
            continue
    return None


def how_to_get(kind: Kind) -> str:
    """Say what was not tested and the ways to have it tested."""
    facts = FACTS[kind]
    return (
        f"{facts.title} was not tested: none answers on 127.0.0.1:{facts.port} without a password and none is "
        f"installed. Start one there, name one with {facts.variable}={facts.scheme}://user:password@host/, or install "
        f"one: apt-get install {facts.debian_package} (`make test` does this by itself as root on a Debian system)."
    )


def _named(kind: Kind, url: str) -> Found:
    facts = FACTS[kind]
    try:
        return Found(kind, url, f"{clients.version(kind, url)}, named by {facts.variable}: {without_password(url)}")
    except ServerUnavailable as error:
        raise ServerUnavailable(
            f"{facts.title} was not tested: {facts.variable} names {without_password(url)}, which does not serve: "
            f"{error}. Correct the URL, or unset the variable to have a local server found or started."
        ) from error
