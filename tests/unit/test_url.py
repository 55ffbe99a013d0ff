"""Database URLs: what is accepted, what is refused and that no password is ever shown."""

import ssl
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.errors import UsageError
from oxpull_async.drivers.url import OPTIONS, DatabaseUrl, mask, parse_url, ssl_context, unverified_context

SECRET = "hunter2zz"

_text = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffd"), min_size=1, max_size=20)


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_url(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("scheme", "family", "port"),
    [
        ("postgresql", "postgres", 5432),
        ("postgres", "postgres", 5432),
        ("postgresql+asyncpg", "postgres", 5432),
        ("mysql", "mysql", 3306),
        ("MariaDB", "mysql", 3306),
        ("mysql+aiomysql", "mysql", 3306),
    ],
)
def test_a_server_url_gives_its_parts_and_the_default_port(scheme: str, family: str, port: int) -> None:
    url = parse_url(f"{scheme}://ann:{SECRET}@db.example/tasks")
    assert (url.family, url.user, url.password) == (family, "ann", SECRET)
    assert (url.host, url.port, url.database) == ("db.example", port, "tasks")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("sqlite:///tasks.db", "tasks.db"),
        ("sqlite:///./data/tasks.db", "./data/tasks.db"),
        ("sqlite:////var/lib/tasks.db", "/var/lib/tasks.db"),
        ("sqlite+aiosqlite:///a%20b%23.db", "a b#.db"),
        ("  sqlite:///tasks.db\n", "tasks.db"),
    ],
)
def test_a_sqlite_url_names_a_relative_or_an_absolute_file(text: str, path: str) -> None:
    assert parse_url(text).database == path


@given(user=_text, password=_text, database=_text)
def test_percent_encoded_parts_come_back_as_they_were(user: str, password: str, database: str) -> None:
    url = parse_url(f"mysql://{quote(user, safe='')}:{quote(password, safe='')}@h/{quote(database, safe='')}")
    assert (url.user, url.password, url.database) == (user, password, database)


def test_an_ipv6_host_stands_in_brackets() -> None:
    url = parse_url("postgresql://ann@[2001:db8::1]:5433/tasks")
    assert (url.host, url.port) == ("2001:db8::1", 5433)
    assert url.masked == "postgresql://ann@[2001:db8::1]:5433/tasks"


def test_the_host_option_is_the_folder_of_the_unix_socket() -> None:
    url = parse_url("postgresql:///tasks?host=/var/run/postgresql")
    assert (url.host, url.database) == ("/var/run/postgresql", "tasks")


def test_a_mysql_socket_is_an_option() -> None:
    url = parse_url("mysql://root@localhost/tasks?unix_socket=/run/mysqld/mysqld.sock")
    assert url.text("unix_socket") == "/run/mysqld/mysqld.sock"


@pytest.mark.parametrize(
    "text", ["mysql://db.example/tasks?unix_socket=/run/m.sock", "postgresql://db.example/tasks?host=/run"]
)
def test_a_host_and_a_socket_together_are_refused(text: str) -> None:
    assert "keep one" in refusal(text)


def test_options_have_types_and_defaults() -> None:
    url = parse_url("postgresql://h/tasks?pool_size=3&acquire_timeout=1.5&sslmode=REQUIRE")
    assert (url.integer("pool_size"), url.seconds("acquire_timeout"), url.text("sslmode")) == (3, 1.5, "require")
    assert (url.seconds("connect_timeout"), url.text("pooler"), url.text("listen_url")) == (10.0, "session", None)


def test_each_option_is_declared_once_and_its_default_is_valid() -> None:
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)
    for option in OPTIONS:
        if option.default is not None:
            assert option.read(str(option.default)) == option.default


WRONG_VALUES = """
    pool_size=0 pool_size=ten pool_size=-1 pool_size=1_0 acquire_timeout=0 acquire_timeout=nan connect_timeout=inf
    sslmode=maybe pooler=statement application_name= sslcert=
"""
MALFORMED = """
    tasks.db redis://h/0 sqlite://tasks.db sqlite:///file:x?mode=memory postgresql://h mysql://h/ postgresql://h:0/t
    postgresql://h:99999/t postgresql://h:x/t postgresql://[::1/t mysql://a,b/t sqlite:///t.db#x mysql://h/t%00
    mysql://h/t%ff mysql://h/a\x01b postgresql://h/a/b
"""


@pytest.mark.parametrize("option", WRONG_VALUES.split())
def test_a_wrong_value_is_refused_by_name(option: str) -> None:
    assert option.partition("=")[0] in refusal(f"postgresql://h/tasks?{option}")


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("postgresql://h/tasks?pol_size=3", "pool_size"),
        ("postgresql://h/tasks?ssl_mode=require", "sslmode"),
        ("mysql://h/tasks?sslmode=required", "ssl_mode"),
        ("sqlite:///t.db?busytimeout=3", "busy_timeout"),
        ("sqlite:///t.db?sync=off", "synchronous"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest_known_one(text: str, nearest: str) -> None:
    assert nearest in refusal(text)


def test_the_charset_is_utf8mb4_and_no_other() -> None:
    assert parse_url("mysql://h/tasks?charset=utf8mb4").text("charset") == "utf8mb4"
    assert "utf8mb4" in refusal("mysql://h/tasks?charset=latin1")


def test_an_option_given_twice_is_refused() -> None:
    assert "twice" in refusal("mysql://h/tasks?pool_size=1&pool_size=2")


def test_a_foreign_driver_is_refused_with_the_way_out() -> None:
    assert "without +psycopg2" in refusal("postgresql+psycopg2://h/tasks")


@pytest.mark.parametrize("text", ["sqlite:///:memory:", "sqlite://", "sqlite:///", "sqlite:///%3Amemory%3A"])
def test_a_database_in_memory_is_for_the_test_kit_only(text: str) -> None:
    assert "neither the pool nor a worker" in refusal(text)
    assert parse_url(text, allow_memory=True).database == ":memory:"


@pytest.mark.parametrize("text", MALFORMED.split())
def test_a_malformed_url_is_refused(text: str) -> None:
    assert refusal(text).startswith("The database URL ")


def test_an_empty_url_is_refused_with_examples() -> None:
    assert "sqlite:///tasks.db" in refusal("")


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://ann:{SECRET}@h:x/t",
        f"postgresql://ann:{SECRET}",
        f"postgresql://:{SECRET}",
        f"postgresql://ann:a/{SECRET}@h/t",
        f"postgresql://ann:1/{SECRET}@h/t",
        f"postgresql://ann:a?{SECRET}@h/t",
        f"postgresql://ann:1?{SECRET}@h/t",
        f"postgresql://ann:a#{SECRET}@h/t",
        f"postgresql://ann:a@{SECRET}@h:x/t",
        f"postgresql:/ann:{SECRET}@h/t",
        f"ann:{SECRET}@h/t",
        f"ann:{SECRET}",
        f"redis://ann:{SECRET}@h/t",
        f"postgresql://ann:{SECRET}@h/t?password={SECRET}",
        f"postgresql://h/t?password={SECRET}",
        f"redis://h/t?password={SECRET}",
        f"postgresql://h/?x=1&sslpassword={SECRET}&listen_url=mysql%3A%2F%2Fann%3A{SECRET}%40h%2Ft",
        f"postgresql://ann:{SECRET}%00@h/t",
        f"postgresql://h/t?listen_url=postgresql://ann:{SECRET}@h:x/t",
        f"postgresql://h/t?listen_url=mysql://ann:{SECRET}@h/t",
        f"postgresql://ann:{SECRET}\n{SECRET}@h/t",
    ],
)
def test_no_refusal_shows_a_password(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_url(text)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__context__


@given(password=_text.map(lambda text: SECRET + text))
def test_a_password_of_any_shape_is_masked_in_any_url(password: str) -> None:
    assert SECRET not in mask(f"postgresql://ann:{password}@host/tasks")
    assert SECRET not in mask(f"postgresql://ann:{quote(password, safe='')}@host/tasks")


def test_a_url_as_text_shows_no_password() -> None:
    nested = quote(f"postgresql://bob:{SECRET}@direct/tasks", safe="")
    url = parse_url(f"postgresql://ann:{SECRET}@h/tasks?pooler=transaction&listen_url={nested}")
    shown = f"{url} {url!r} {url.masked} {[url]}"
    assert SECRET not in shown
    assert str(url) == (
        "postgresql://ann:***@h:5432/tasks?pooler=transaction&listen_url=postgresql://bob:***@direct/tasks"
    )


def test_a_url_without_a_password_is_shown_as_it_is() -> None:
    for text in ("postgresql://ann@h:5432/tasks", "sqlite:////var/tasks.db", "sqlite:///tasks.db?busy_timeout=2.0"):
        assert str(parse_url(text)) == text


def test_equal_urls_are_equal_and_hashable() -> None:
    assert len({parse_url("mysql://h/t?pool_size=2"), parse_url("mariadb://h:3306/t?pool_size=2")}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://h/t", None),
        ("postgresql://h/t?sslmode=disable", False),
        ("mysql://h/t", None),
        ("mysql://h/t?ssl_mode=disabled", False),
        ("sqlite:///t.db", False),
    ],
)
def test_tls_is_tried_by_default_and_can_be_switched_off(text: str, expected: bool | None) -> None:
    assert ssl_context(parse_url(text)) is expected


@pytest.mark.parametrize(
    ("text", "mode", "checks_host"),
    [
        ("postgresql://h/t?sslmode=require", ssl.CERT_NONE, False),
        ("postgresql://h/t?sslmode=verify-ca", ssl.CERT_REQUIRED, False),
        ("postgresql://h/t?sslmode=verify-full", ssl.CERT_REQUIRED, True),
        ("mysql://h/t?ssl_mode=required", ssl.CERT_NONE, False),
        ("mysql://h/t?ssl_mode=verify_ca", ssl.CERT_REQUIRED, False),
        ("mysql://h/t?ssl_mode=verify_identity", ssl.CERT_REQUIRED, True),
    ],
)
def test_the_tls_mode_decides_what_is_verified(text: str, mode: ssl.VerifyMode, checks_host: bool) -> None:
    context = ssl_context(parse_url(text))
    assert isinstance(context, ssl.SSLContext)
    assert (context.verify_mode, context.check_hostname) == (mode, checks_host)


def test_an_unverified_context_believes_any_certificate() -> None:
    assert unverified_context().verify_mode is ssl.CERT_NONE


TLS = Path(__file__).parent / "tls"  # made for these tests, used nowhere else


def with_options(text: str, **options: object) -> DatabaseUrl:
    return parse_url(f"{text}?{'&'.join(f'{name}={value}' for name, value in options.items())}")


def test_a_root_certificate_makes_require_verify() -> None:
    cert = TLS / "cert.pem"
    for url in (
        with_options("postgresql://h/t", sslmode="require", sslrootcert=cert),
        with_options("mysql://h/t", ssl_mode="required", ssl_ca=cert),
    ):
        context = ssl_context(url)
        assert isinstance(context, ssl.SSLContext)
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert len(context.get_ca_certs()) == 1


def test_a_client_certificate_is_loaded_with_its_key() -> None:
    key, cert = TLS / "key.pem", TLS / "cert.pem"
    context = ssl_context(with_options("postgresql://h/t", sslmode="require", sslcert=cert, sslkey=key))
    assert isinstance(context, ssl.SSLContext)


def test_an_encrypted_key_is_refused_without_asking_on_the_terminal() -> None:
    key, cert = TLS / "locked_key.pem", TLS / "cert.pem"
    with pytest.raises(UsageError, match="without a passphrase"):
        ssl_context(with_options("mysql://h/t", ssl_mode="required", ssl_cert=cert, ssl_key=key))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("postgresql://h/t?sslmode=require&sslrootcert=/nowhere.pem", "sslrootcert=/nowhere.pem"),
        ("postgresql://h/t?sslrootcert=/nowhere.pem", "sslrootcert has no effect with sslmode=prefer"),
        ("mysql://h/t?ssl_mode=disabled&ssl_ca=/x.pem", "ssl_ca has no effect with ssl_mode=disabled"),
        ("mysql://h/t?ssl_mode=required&ssl_key=/x.pem", "give ssl_cert as well"),
    ],
)
def test_tls_options_that_cannot_work_are_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ssl_context(parse_url(text))
