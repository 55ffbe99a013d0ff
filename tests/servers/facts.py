"""What tells the two servers apart: names, ports, variables, queries. No I/O here."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

type Kind = Literal["postgres", "mysql"]


class ServerUnavailable(Exception):
    """A database server is neither running nor installed; says how to get it."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything about one server that does not need a connection."""

    title: str
    variable: str
    scheme: str
    port: int
    users: tuple[str, ...]
    home_database: str
    debian_package: str
    may_create: str


FACTS: dict[Kind, Facts] = {
    "postgres": Facts(
        title="PostgreSQL",
        variable="OXPULL_TEST_POSTGRES_URL",
        scheme="postgresql",
        port=5432,
        users=("postgres", "root"),
        home_database="postgres",
        debian_package="postgresql",
        may_create="SELECT count(*) FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolcreatedb)",
    ),
    "mysql": Facts(
        title="MariaDB",
        variable="OXPULL_TEST_MYSQL_URL",
        scheme="mysql",
        port=3306,
        users=("root", "mysql"),
        home_database="",
        debian_package="mariadb-server",
        may_create="SELECT count(*) FROM information_schema.user_privileges WHERE privilege_type = 'CREATE'"
        """ AND grantee = concat("'", replace(current_user(), '@', "'@'"), "'")""",
    ),
}


def local_url(kind: Kind, user: str, port: int) -> str:
    """Name a passwordless account on this machine."""
    facts = FACTS[kind]
    return f"{facts.scheme}://{user}@127.0.0.1:{port}/{facts.home_database}"


def with_database(url: str, database: str) -> str:
    """Point a server's URL at one of its databases."""
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def without_password(url: str) -> str:
    """Make a URL fit to be printed."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user.partition(':')[0]}@{host}", query="").geturl()
