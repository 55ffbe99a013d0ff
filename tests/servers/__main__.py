"""Install the servers that the tests will need and this machine lacks, where that is possible."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress

from tests.servers import launch
from tests.servers.facts import FACTS, Kind, ServerUnavailable
from tests.servers.find import find


def missing() -> list[Kind]:
    """List the servers that neither run nor are installed; a named one is never replaced."""
    lacking: list[Kind] = []
    for kind in FACTS:
        with suppress(ServerUnavailable):
            if find(kind) is None and launch.program(kind) is None:
                lacking.append(kind)
    return lacking


def install(packages: list[str]) -> None:
    """Install packages of the distribution; a failure is reported later, by the tests."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "--quiet", *command], env=environment, stdin=subprocess.DEVNULL, check=False)


def main() -> None:
    """Install what is missing if this is root on a Debian system."""
    packages = [FACTS[kind].debian_package for kind in missing()]
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        sys.stdout.write(f"Installing {' and '.join(packages)} for the tests\n")
        sys.stdout.flush()
        install(packages)


if __name__ == "__main__":
    main()
