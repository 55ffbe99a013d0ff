"""`make proof`: run every scenario at full size on the three databases and write docs/proofs.md.

`--only TEXT` runs those with this in their titles, rules or modules, and writes nothing.
"""

import argparse
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.proofs.discover import Listed, listed
from tests.proofs.report import Outcome, Report, figures
from tests.servers import FACTS, Databases, ServerUnavailable, Session

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


def main() -> int:
    """Run the proofs; the exit code is 1 if one of them failed."""
    only = arguments().only
    logging.getLogger("oxpull_async").setLevel(logging.CRITICAL)  # what goes wrong in a proof is meant to
    chosen = [one for one in listed() if only.lower() in one.description.lower()]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Session() as session, Databases(session) as databases:
        place = Places(Path(folder), databases)
        outcomes = [outcome for one in chosen for outcome in run(one, place)]
        report = Report(outcomes, session, time.monotonic() - start)
        page = report.text()
    failed = [outcome for outcome in outcomes if outcome.failure]
    if not only:
        PAGE.write_text(page, encoding="utf-8")
    say(f"{len(outcomes)} proofs, {len(failed)} failed, {report.seconds:.0f} s")
    return 1 if failed or not outcomes else 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="only proofs with this in title, rule or module")
    return parser.parse_args()


class Places:
    """Where a proof runs: an empty database of its own each time."""

    def __init__(self, folder: Path, databases: Databases) -> None:
        self._folder = folder
        self._databases = databases
        self._made = 0

    def url(self, kind: str) -> str:
        """Make an empty database; ServerUnavailable says what to do where there is none."""
        self._made += 1
        if kind == "sqlite":
            return f"sqlite:///{self._folder / f'proof{self._made}.db'}"
        return self._databases.make(next(one for one in FACTS if one == kind))


def run(one: Listed, places: Places) -> Iterator[Outcome]:
    """Run a proof on its databases, side by side unless it wants to be alone; most of them wait most of the time."""
    say(f"\n{one.proof.title} ({one.proof.rule})")
    side_by_side = 1 if one.proof.alone else len(one.proof.databases)
    with ThreadPoolExecutor(side_by_side) as pool:
        started: dict[Future[Outcome], str] = {}
        for kind in one.proof.databases:
            started[pool.submit(attempt, one, kind, places)] = kind
        for future in as_completed(started):
            outcome = future.result()
            say(f"  {outcome.database:8} {outcome.seconds:6.1f} s  {outcome.failure or outcome.figures}")
            yield outcome


def attempt(one: Listed, kind: str, places: Places) -> Outcome:
    """Run a proof on one database; whatever it raises is its failure."""
    start = time.monotonic()
    try:
        found, failure = figures(one.proof.run(places.url(kind))), ""
    except ServerUnavailable as missing:
        found, failure = "", f"not run: {missing}"
    except Exception as error:  # noqa: BLE001 - a proof may fail in any way
        cause = innermost(error)
        found, failure = "", f"{type(cause).__name__}: {cause}"
    return Outcome(one.proof.title, one.proof.rule, kind, time.monotonic() - start, found, failure)


def innermost(error: BaseException) -> BaseException:
    """Find the first plain exception in a group of groups."""
    return innermost(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
