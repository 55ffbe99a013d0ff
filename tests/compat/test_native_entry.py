"""What each key of a DATABASES entry comes to in the native driver's URL, without any database."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import pq

from compat_sync.native.entry import Reading, Surroundings
from compat_sync.native.url import read_entry
from oxpull_async.drivers.url import DatabaseUrl

PAGE = Path(__file__).parents[2] / "docs" / "django-databases.md"
SECRET = "s3cret-Pa55"
BASE = {"NAME": "shop", "HOST": "", "PORT": "", "USER": "", "PASSWORD": "", "OPTIONS": {}}
POSTGRES, MYSQL, SQLITE = "postgresql", "mysql", "sqlite"
NOWHERE = Surroundings(environ={}, home=Path("/nonexistent"))


def read(vendor: str, around: Surroundings = NOWHERE, **entry: object) -> Reading:
    return read_entry("default", {**BASE, "ENGINE": f"django.db.backends.{vendor}", **entry}, vendor, around)


def url_of(vendor: str, around: Surroundings = NOWHERE, **entry: object) -> DatabaseUrl:
    reading = read(vendor, around, **entry)
    assert reading.problems == ()
    assert reading.url is not None
    return reading.url


def problem_of(vendor: str, around: Surroundings = NOWHERE, **entry: object) -> str:
    reading = read(vendor, around, **entry)
    assert reading.url is None
    assert len(reading.problems) == 1
    return reading.problems[0]


def with_variables(**variables: str) -> Surroundings:
    return Surroundings(environ=variables, home=Path("/nonexistent"))


SAYS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (POSTGRES, {"sslmode": "require"}, {"sslmode": "require"}),
    (POSTGRES, {"sslmode": "allow"}, {"sslmode": "prefer"}),
    (POSTGRES, {"sslmode": "disable", "sslrootcert": "/ca.pem"}, {"sslmode": "disable"}),
    (POSTGRES, {"sslrootcert": "system"}, {"sslmode": "verify-full"}),
    (
        POSTGRES,
        {"sslmode": "verify-full", "sslrootcert": "/ca", "sslcert": "/crt", "sslkey": "/key"},
        {"sslmode": "verify-full", "sslrootcert": "/ca", "sslcert": "/crt", "sslkey": "/key"},
    ),
    (POSTGRES, {"connect_timeout": 3}, {"connect_timeout": 3.0}),
    (POSTGRES, {"connect_timeout": "0"}, {"connect_timeout": 86400.0}),
    (POSTGRES, {"connect_timeout": -1}, {"connect_timeout": 86400.0}),
    (POSTGRES, {"application_name": "shop"}, {"application_name": "shop"}),
    (POSTGRES, {"fallback_application_name": "shop"}, {"application_name": "shop"}),
    (POSTGRES, {"fallback_application_name": "a", "application_name": "b"}, {"application_name": "b"}),
    (POSTGRES, {"options": "-c search_path=tasks"}, {"options": "-c search_path=tasks"}),
    (POSTGRES, {"assume_role": "task owner"}, {"options": r"-c role=task\ owner"}),
    (POSTGRES, {"options": "-c a.b=1", "assume_role": "owner"}, {"options": "-c a.b=1 -c role=owner"}),
    (POSTGRES, {"passfile": "/etc/pass"}, {"passfile": "/etc/pass"}),
    (POSTGRES, {"target_session_attrs": "read-write"}, {"target_session_attrs": "read-write"}),
    (
        POSTGRES,
        {"keepalives": 1, "keepalives_idle": 30, "keepalives_count": "5"},
        {"keepalives_idle": 30.0, "keepalives_count": 5},
    ),
    (POSTGRES, {"pool": True}, {}),
    (POSTGRES, {"pool": {"min_size": 2, "max_size": 4, "timeout": 10}}, {"pool_size": 4, "acquire_timeout": 10.0}),
    (POSTGRES, {"pool": {"min_size": 2}}, {"pool_size": 2}),
    (POSTGRES, {"isolation_level": 3, "server_side_binding": True, "prepare_threshold": 5}, {}),
    (POSTGRES, {"client_encoding": "UTF8", "gssencmode": "disable", "sslsni": True, "sslpassword": None}, {}),
    (MYSQL, {"charset": "utf8mb4", "isolation_level": "repeatable read", "sql_mode": "TRADITIONAL"}, {}),
    (MYSQL, {"connect_timeout": 4}, {"connect_timeout": 4.0}),
    (
        MYSQL,
        {"init_command": "SET sql_mode='STRICT_TRANS_TABLES'"},
        {"init_command": "SET sql_mode='STRICT_TRANS_TABLES'"},
    ),
    (MYSQL, {"init_command": "SET NAMES utf8mb4"}, {"init_command": "SET NAMES utf8mb4"}),
    (MYSQL, {"ssl": {"ca": "/ca"}}, {"ssl_mode": "required", "ssl_ca": "/ca"}),
    (MYSQL, {"ssl": True}, {"ssl_mode": "required"}),
    (MYSQL, {"ssl": {"ca": "/ca", "check_hostname": True}}, {"ssl_mode": "verify_identity", "ssl_ca": "/ca"}),
    (
        MYSQL,
        {"ssl_mode": "VERIFY_CA", "ssl": {"ca": "/ca", "cert": "/c", "key": "/k"}},
        {"ssl_mode": "verify_ca", "ssl_ca": "/ca", "ssl_cert": "/c", "ssl_key": "/k"},
    ),
    (MYSQL, {"ssl_mode": "DISABLED"}, {"ssl_mode": "disabled"}),
    (MYSQL, {"ssl_disabled": True}, {"ssl_mode": "disabled"}),
    (MYSQL, {"ssl": {}, "compress": False, "local_infile": 1, "use_unicode": True}, {}),
    (SQLITE, {"timeout": 20}, {"busy_timeout": 20.0}),
    (SQLITE, {"timeout": 0}, {"busy_timeout": 0.001}),
    (SQLITE, {"transaction_mode": "EXCLUSIVE", "check_same_thread": False, "uri": True}, {}),
    (
        SQLITE,
        {"init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous = 1;PRAGMA busy_timeout(250); ;"},
        {"journal_mode": "wal", "synchronous": "normal", "busy_timeout": 0.25},
    ),
]


@pytest.mark.parametrize(("vendor", "options", "expected"), SAYS)
def test_what_a_driver_understands_is_in_the_url(
    vendor: str, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    url = url_of(vendor, OPTIONS=options)
    assert {"sslmode": "prefer", **expected} == {"sslmode": "prefer", **url.options}


CANNOT: list[tuple[str, dict[str, Any], str]] = [
    (POSTGRES, {"OPTIONS": {"sslcrl": "/crl"}}, "['OPTIONS']['sslcrl'] is '/crl'"),
    (POSTGRES, {"OPTIONS": {"channel_binding": "require"}}, "['OPTIONS']['channel_binding'] is 'require'"),
    (POSTGRES, {"OPTIONS": {"gssencmode": "require"}}, "['OPTIONS']['gssencmode']"),
    (POSTGRES, {"OPTIONS": {"target_session_attrs": "standby"}}, "['OPTIONS']['target_session_attrs'] is 'standby'"),
    (POSTGRES, {"OPTIONS": {"tcp_user_timeout": 1000}}, "['OPTIONS']['tcp_user_timeout'] is 1000"),
    (POSTGRES, {"OPTIONS": {"keepalives": 0}}, "['OPTIONS']['keepalives'] is 0"),
    (POSTGRES, {"OPTIONS": {"sslmode": "sometimes"}}, "choose one of disable"),
    (POSTGRES, {"OPTIONS": {"sslcert": "/crt"}}, "Say sslmode 'verify-full'"),
    (POSTGRES, {"OPTIONS": {"sslmode": "prefer", "sslrootcert": "/ca"}}, "Say sslmode 'verify-full'"),
    (POSTGRES, {"OPTIONS": {"connect_timeout": "+-5"}}, "['OPTIONS']['connect_timeout'] is '+-5'"),
    (POSTGRES, {"PORT": "٣"}, "['PORT'] is '٣'"),
    (POSTGRES, {"OPTIONS": {"connect_timeout": "soon"}}, "['OPTIONS']['connect_timeout'] is 'soon'"),
    (POSTGRES, {"OPTIONS": {"pool": {"max_size": 5000}}}, "from 1 to 1000"),
    (POSTGRES, {"OPTIONS": {"hostaddr": "10.0.0.1"}}, "Put the address into HOST"),
    (POSTGRES, {"OPTIONS": {"no_such_key": 1}}, "['OPTIONS']['no_such_key'] is 1"),
    (POSTGRES, {"OPTIONS": {"service": "shop"}, "NAME": ""}, "/nonexistent/.pg_service.conf"),
    (POSTGRES, {"HOST": "a,b"}, "['HOST'] is 'a,b'"),
    (POSTGRES, {"HOST": "@shop"}, "['HOST'] is '@shop'"),
    (POSTGRES, {"PORT": "5432,5433"}, "['PORT'] is '5432,5433'"),
    (MYSQL, {"OPTIONS": {"compress": True}}, "['OPTIONS']['compress'] is True"),
    (MYSQL, {"OPTIONS": {"read_timeout": 30}}, "max_statement_time"),
    (MYSQL, {"OPTIONS": {"write_timeout": 30}}, "['OPTIONS']['write_timeout'] is 30"),
    (MYSQL, {"OPTIONS": {"auth_plugin": "x"}}, "['OPTIONS']['auth_plugin'] is 'x'"),
    (MYSQL, {"OPTIONS": {"client_flag": 2048}}, "['OPTIONS']['client_flag'] is 2048"),
    (MYSQL, {"OPTIONS": {"ssl": {"cipher": "AES"}, "ssl_mode": "REQUIRED"}}, "['OPTIONS']['ssl']['cipher'] is 'AES'"),
    (MYSQL, {"OPTIONS": {"ssl": object()}}, "Name the files"),
    (MYSQL, {"OPTIONS": {"ssl_mode": "PREFERRED", "ssl": {"ca": "/ca"}}}, "Say ssl_mode VERIFY_IDENTITY"),
    (MYSQL, {"OPTIONS": {"init_command": "SET NAMES latin1"}}, "utf8mb4"),
    (MYSQL, {"OPTIONS": {"read_default_file": "/no/such.cnf"}}, "['OPTIONS']['read_default_file'] is '/no/such.cnf'"),
    (MYSQL, {"OPTIONS": {"read_default_group": "shop"}}, "Name the file as well"),
    (MYSQL, {"NAME": ""}, "Say NAME"),
    (SQLITE, {"NAME": ":memory:"}, "['TEST']['NAME']"),
    (SQLITE, {"NAME": "file:memorydb_default?mode=memory&cache=shared"}, "['TEST']['NAME']"),
    (SQLITE, {"NAME": "file:shop.db?mode=ro"}, "Name the file"),
    (SQLITE, {"OPTIONS": {"init_command": "PRAGMA journal_mode=memory"}}, "choose one of wal"),
    (SQLITE, {"OPTIONS": {"init_command": "ATTACH 'x' AS y"}}, "Take that command out"),
    (SQLITE, {"OPTIONS": {"init_command": "PRAGMA locking_mode=EXCLUSIVE"}}, "locking_mode"),
    (SQLITE, {"OPTIONS": {"vfs": "x"}}, "['OPTIONS']['vfs'] is 'x'"),
    ("oracle", {}, "['ENGINE'] is 'django.db.backends.oracle'"),
]


@pytest.mark.parametrize(("vendor", "entry", "expected"), CANNOT)
def test_what_a_driver_cannot_do_is_one_sentence_that_names_key_value_and_way_out(
    vendor: str, entry: dict[str, Any], expected: str
) -> None:
    problem = problem_of(vendor, **entry)
    assert expected in problem
    assert problem.endswith(".")


def test_every_problem_is_told_not_only_the_first() -> None:
    reading = read(POSTGRES, HOST="a,b", OPTIONS={"sslcrl": "/crl", "replication": "database"})
    assert len(reading.problems) == 3


@pytest.mark.parametrize("vendor", [POSTGRES, MYSQL])
def test_a_password_is_never_shown(vendor: str) -> None:
    url = url_of(vendor, PASSWORD=SECRET, HOST="db", USER="shop")
    assert url.password == SECRET
    assert SECRET not in f"{url} {url!r}"
    options = {"sslpassword": SECRET, "ssl_password": SECRET, "oauth_client_secret": SECRET, "compress": True}
    reading = read(vendor, PASSWORD=lambda: SECRET, OPTIONS=options)
    assert len(reading.problems) == 5
    assert SECRET not in " ".join(reading.problems)


@pytest.mark.parametrize(("vendor", "port"), [(POSTGRES, 5432), (MYSQL, 3306)])
def test_places_and_names_are_taken_as_they_are(vendor: str, port: int) -> None:
    url = url_of(vendor, HOST="db.example", USER="o'shop", NAME="a b")
    assert (url.host, url.port, url.user, url.database) == ("db.example", port, "o'shop", "a b")
    assert url_of(vendor, HOST="db", PORT=1234).port == url_of(vendor, HOST="db", PORT="1234").port == 1234


def test_a_folder_is_the_socket_of_one_server_and_a_file_that_of_the_other() -> None:
    assert url_of(POSTGRES, HOST="/var/run/postgresql").host == "/var/run/postgresql"
    url = url_of(MYSQL, HOST="/run/mysqld.sock")
    assert (url.host, url.text("unix_socket")) == (None, "/run/mysqld.sock")


def test_options_win_over_the_entry_where_djangos_backend_lets_them() -> None:
    options = {"user": "inner", "password": "p", "host": "inner", "port": 1}
    outer: dict[str, Any] = {"USER": "outer", "HOST": "outer", "PORT": "2", "PASSWORD": "q", "OPTIONS": options}
    assert url_of(POSTGRES, **outer).user == "outer"
    assert url_of(POSTGRES, OPTIONS={"dbname": "inner"}).database == "inner"
    assert url_of(MYSQL, **outer).user == "inner"
    assert url_of(MYSQL, OPTIONS={"db": "inner", "passwd": "p"}, NAME="").database == "inner"


def test_a_service_fills_in_what_the_entry_leaves_out(tmp_path: Path) -> None:
    (tmp_path / ".pg_service.conf").write_text(
        f"# ours\n[other]\nhost=no\n[shop]\nhost=db.example\nport=6543\nuser=clerk\npassword={SECRET}%a\ndbname=tasks\n"
        "sslmode=require\n"
    )
    around = Surroundings(environ={"PGUSER": "nobody", "PGAPPNAME": "shop"}, home=tmp_path)
    url = url_of(POSTGRES, around, NAME="", OPTIONS={"service": "shop"})
    assert (url.host, url.port, url.user, url.database) == ("db.example", 6543, "clerk", "tasks")
    assert url.password == f"{SECRET}%a"
    assert url.options == {"sslmode": "require", "application_name": "shop"}
    assert url_of(POSTGRES, around, NAME="test_tasks", OPTIONS={"service": "shop"}).database == "test_tasks"
    assert url_of(POSTGRES, around, NAME=None, OPTIONS={"service": "shop"}).host is None


@pytest.mark.parametrize("variable", ["PGSERVICEFILE", "PGSYSCONFDIR"])
def test_a_service_file_is_found_by_variables_too(tmp_path: Path, variable: str) -> None:
    file = tmp_path / "pg_service.conf"
    file.write_text("[shop]\nhost=db.example\nsslcrl=/crl\n")
    place = file if variable == "PGSERVICEFILE" else tmp_path
    around = with_variables(**{variable: str(place), "PGSERVICE": "shop"})
    assert problem_of(POSTGRES, around).startswith("sslcrl of the service 'shop' is '/crl'")


def test_a_service_file_that_cannot_be_read_is_named_without_its_content(tmp_path: Path) -> None:
    (tmp_path / ".pg_service.conf").write_text(f"password={SECRET}\n")
    around = Surroundings(environ={}, home=tmp_path)
    problem = problem_of(POSTGRES, around, OPTIONS={"service": "shop"})
    assert ".pg_service.conf cannot be read" in problem
    assert SECRET not in problem


def test_the_environment_counts_as_it_does_for_libpq() -> None:
    around = with_variables(PGHOST="db", PGPORT="6000", PGUSER="clerk", PGPASSWORD="p", PGSSLMODE="require")
    url = url_of(POSTGRES, around)
    assert (url.host, url.port, url.user, url.password) == ("db", 6000, "clerk", "p")
    assert url.options == {"sslmode": "require"}
    assert url_of(POSTGRES, around, HOST="other", OPTIONS={"sslmode": "disable"}).options == {"sslmode": "disable"}
    refused = problem_of(POSTGRES, with_variables(PGHOSTADDR="10.0.0.1"))
    assert refused.startswith("the environment variable PGHOSTADDR is '10.0.0.1'")


def test_certificates_in_the_users_folder_count_as_they_do_for_libpq(tmp_path: Path) -> None:
    folder = tmp_path / ".postgresql"
    folder.mkdir()
    for name in ("root.crt", "postgresql.crt", "postgresql.key"):
        (folder / name).touch()
    around = Surroundings(environ={}, home=tmp_path)
    assert url_of(POSTGRES, around).options == {"sslmode": "prefer"}
    assert url_of(POSTGRES, around, OPTIONS={"sslmode": "require"}).options == {
        "sslmode": "require",
        "sslrootcert": str(folder / "root.crt"),
        "sslcert": str(folder / "postgresql.crt"),
        "sslkey": str(folder / "postgresql.key"),
    }
    (folder / "root.crl").touch()
    assert "root.crl" in problem_of(POSTGRES, around, OPTIONS={"sslmode": "verify-ca"})


def option_file(tmp_path: Path, text: str) -> Mapping[str, Any]:
    (tmp_path / "my.cnf").write_text(text)
    return {"NAME": "", "OPTIONS": {"read_default_file": str(tmp_path / "my.cnf")}}


def test_an_option_file_fills_in_what_the_entry_leaves_out(tmp_path: Path) -> None:
    entry = option_file(
        tmp_path,
        f"[mysqld]\nport=1\n[client]\nhost = db.example\nport=3307\nuser='clerk'\npassword=\"{SECRET}\" # mine\n"
        "database=tasks\ndefault-character-set = utf8mb4\nssl_ca=/ca\nssl-verify-server-cert\nprompt=x\n",
    )
    url = url_of(MYSQL, **entry)
    assert (url.host, url.port, url.user, url.password) == ("db.example", 3307, "clerk", SECRET)
    assert url.database == "tasks"
    assert url.options == {"ssl_mode": "verify_identity", "ssl_ca": "/ca"}
    assert url_of(MYSQL, **{**entry, "USER": "other"}).user == "other"


def test_a_group_of_the_option_file_comes_last_and_wins(tmp_path: Path) -> None:
    entry = option_file(tmp_path, "[client]\nuser=clerk\ndatabase=tasks\n[shop]\nuser=boss\nsocket=/s.sock\n")
    url = url_of(MYSQL, NAME="", OPTIONS={**entry["OPTIONS"], "read_default_group": "shop"})
    assert (url.user, url.text("unix_socket")) == ("boss", "/s.sock")


@pytest.mark.parametrize("line", ["compress", "ssl-crl=/crl", "default-auth=x", "tls-version=TLSv1.3"])
def test_what_an_option_file_says_is_refused_like_the_entry(tmp_path: Path, line: str) -> None:
    entry = option_file(tmp_path, f"[client]\ndatabase=tasks\n{line}\n")
    assert problem_of(MYSQL, **entry).startswith(f"{line.partition('=')[0]} in {tmp_path}/my.cnf is")


def test_an_option_file_that_includes_others_is_refused(tmp_path: Path) -> None:
    assert "includes other files" in problem_of(
        MYSQL, **{**option_file(tmp_path, "[client]\nuser=x\n!includedir /etc/x\n"), "NAME": "shop"}
    )


@pytest.mark.parametrize("host", ["", "localhost"])
def test_a_local_server_is_met_at_the_socket_that_its_client_library_takes(host: str) -> None:
    absent = Path("/nonexistent/mysqld.sock")
    library = Surroundings(environ={"MYSQL_UNIX_PORT": "/own.sock"}, home=absent, sockets=(absent,))
    assert url_of(MYSQL, library, HOST=host).text("unix_socket") == "/own.sock"
    assert url_of(MYSQL, library, HOST="127.0.0.1").host == "127.0.0.1"
    assert url_of(MYSQL, library, HOST="/other.sock").text("unix_socket") == "/other.sock"
    bare = Surroundings(environ={}, home=absent, sockets=(absent,))
    assert url_of(MYSQL, bare, HOST=host).text("unix_socket") is None
    assert url_of(MYSQL, NOWHERE, HOST=host).host == (host or None)


@pytest.mark.parametrize(
    ("name", "path"),
    [("shop.db", "shop.db"), (Path("/srv/shop.db"), "/srv/shop.db"), ("file:/srv/a%20b.db", "/srv/a b.db")],
)
def test_a_file_is_named_as_a_path(name: object, path: str) -> None:
    assert url_of(SQLITE, NAME=name) == DatabaseUrl(family="sqlite", database=path)


def test_every_key_of_these_tables_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    keys = {key for _, options, _ in SAYS for key in options} | {
        key for _, entry, _ in CANNOT for key in (*entry, *entry.get("OPTIONS", {})) if key != "no_such_key"
    }
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


NAMES = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=30)


@settings(deadline=None)
@given(name=NAMES, user=NAMES, password=NAMES, port=st.integers(1, 65535))
def test_any_name_user_and_password_arrive_unchanged(name: str, user: str, password: str, port: int) -> None:
    for vendor in (POSTGRES, MYSQL):
        url = url_of(vendor, NAME=name, USER=user, PASSWORD=password, HOST="db", PORT=port)
        assert (url.database, url.user, url.password, url.port) == (name, user, password, port)


@settings(deadline=None)
@given(key=st.from_regex("[a-z_]{1,20}", fullmatch=True), value=st.one_of(st.integers(), st.text(), st.booleans()))
def test_an_option_is_understood_or_refused_and_reading_never_breaks(key: str, value: object) -> None:
    for vendor in (POSTGRES, MYSQL, SQLITE):
        reading = read(vendor, OPTIONS={key: value})
        assert (reading.url is None) == bool(reading.problems)


def test_no_key_that_libpq_knows_is_passed_over() -> None:
    """psycopg lists what the library under Django's connection knows; with `x` most values are refused."""
    keys = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    accepted = {key for key in keys if read(POSTGRES, OPTIONS={key: "x"}).url is not None}
    assert accepted == {
        *("dbname", "host", "user", "password", "passfile", "options", "application_name", "fallback_application_name"),
        *("client_encoding", "sslkey"),
    }
