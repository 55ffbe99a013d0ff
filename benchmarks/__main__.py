"""`python -m benchmarks`: measure on a database of each kind, made for it; arguments go to `oxpull bench`."""

import sys
import tempfile
from pathlib import Path

from oxpull_async.cli.bench import bench_command
from tests.servers import FACTS, Databases, Session


def main() -> None:
    """Run `oxpull bench` on all three databases."""
    with tempfile.TemporaryDirectory() as folder, Session() as session, Databases(session) as databases:
        urls = [f"sqlite:///{Path(folder) / 'bench.db'}", *[databases.make(kind) for kind in FACTS]]
        for url in urls:
            bench_command(["--url", url, *sys.argv[1:]], standalone_mode=False)


if __name__ == "__main__":
    main()
