"""Find the PostgreSQL and the MariaDB that the tests use, or start them.

For each of the two, in this order: the server named by `OXPULL_TEST_POSTGRES_URL` or
`OXPULL_TEST_MYSQL_URL`; one that answers on its default local port without a password; an
installed one, started here on a port and data directory of its own and stopped at the end.
`python -m tests.servers` comes first in `make test`: as root on a Debian system it installs
what is missing. `OXPULL_TEST_OWN_SERVERS=1` starts own servers even where others answer.
"""

from tests.servers.databases import Databases
from tests.servers.facts import FACTS, Kind, ServerUnavailable
from tests.servers.session import Session

__all__ = ["FACTS", "Databases", "Kind", "ServerUnavailable", "Session"]
