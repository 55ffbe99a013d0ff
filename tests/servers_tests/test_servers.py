"""Servers are found, started, refused and stopped as `tests.servers` says."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import FACTS, Databases, Kind, ServerUnavailable, Session, clients, launch
from tests.servers.__main__ import missing
from tests.servers.facts import local_url, with_database, without_password
from tests.servers.find import find, find_or_start
from tests.servers.session import VARIABLE

KINDS: list[Kind] = ["postgres", "mysql"]
NOBODY_LISTENS = "127.0.0.1:1"


@pytest.fixture
def own_session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Open a session that is not the suite's own."""
    monkeypatch.delenv(VARIABLE)
    with Session() as session:
        yield session


@pytest.fixture
def nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the default ports count as silent."""
    monkeypatch.setenv("OXPULL_TEST_OWN_SERVERS", "1")
    for facts in FACTS.values():
        monkeypatch.delenv(facts.variable, raising=False)


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every server count as not installed."""

    def no_program(_: Kind) -> None:
        return None

    monkeypatch.setattr(launch, "program", no_program)


@pytest.mark.parametrize("kind", KINDS)
def test_an_installed_server_is_started_on_its_own_port_and_stopped_at_the_end(
    kind: Kind, nothing_answers: None, own_session: Session
) -> None:
    found = own_session.server(kind)
    assert f":{FACTS[kind].port}/" not in found.url
    assert own_session.server(kind) == found, "the second caller gets the first one's server"
    limit = "SHOW max_connections" if kind == "postgres" else "SELECT @@max_connections"
    assert int(str(clients.run(kind, found.url, limit)[0][0])) >= 200
    databases = Databases(own_session)
    url = databases.make(kind)
    assert clients.run(kind, url, "CREATE TABLE t (a int)", "SELECT count(*) FROM t")[0][0] == 0
    databases.drop_all()
    own_session.close()
    assert not Path(found.home).exists()
    with pytest.raises(ServerUnavailable):
        clients.version(kind, found.url)


@pytest.mark.parametrize("kind", KINDS)
def test_a_database_is_dropped_while_somebody_is_connected(kind: Kind, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(f"{kind}_url")
    with Session() as session:
        databases = Databases(session)
        url = databases.make(kind)
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        program = (
            "from tests.servers import clients\n"
            f"sleep = 'SELECT pg_sleep(60)' if {kind!r} == 'postgres' else 'SELECT sleep(60)'\n"
            f"print(clients.run({kind!r}, {url!r}, 'CREATE TABLE t (a int)', 'SELECT 1'), flush=True)\n"
            f"clients.run({kind!r}, {url!r}, sleep)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as stranger:
            assert stranger.stdout
            assert b"1" in stranger.stdout.readline()
            databases.drop_all()
            stranger.kill()
        with pytest.raises(ServerUnavailable):
            clients.run(kind, url, "SELECT 1")


@pytest.mark.parametrize("kind", KINDS)
def test_a_named_server_that_does_not_answer_is_not_replaced(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FACTS[kind].variable, f"{FACTS[kind].scheme}://me:secret@{NOBODY_LISTENS}/")
    with pytest.raises(ServerUnavailable, match=FACTS[kind].variable) as refused:
        find_or_start(kind)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_named_server_is_used(kind: Kind, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    url = request.getfixturevalue(f"{kind}_url")
    monkeypatch.setenv(FACTS[kind].variable, url)
    found = find(kind)
    assert found
    assert found.url == url


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_server_is_named_with_the_ways_to_get_it(
    kind: Kind, nothing_answers: None, nothing_installed: None
) -> None:
    with pytest.raises(ServerUnavailable, match=FACTS[kind].title) as refused:
        find_or_start(kind)
    assert FACTS[kind].variable in str(refused.value)
    assert f"apt-get install {FACTS[kind].debian_package}" in str(refused.value)


def test_what_neither_runs_nor_is_installed_will_be_installed(nothing_answers: None, nothing_installed: None) -> None:
    assert missing() == KINDS


def test_a_named_server_is_never_replaced_by_an_installed_one(
    nothing_answers: None, nothing_installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FACTS["mysql"].variable, f"mysql://me@{NOBODY_LISTENS}/")
    assert missing() == ["postgres"]


@pytest.mark.parametrize(("ci", "outcome", "code"), [("", "1 skipped", 0), ("true", "1 error", 1)])
def test_a_missing_server_skips_here_and_fails_under_ci(
    ci: str, outcome: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for facts in FACTS.values():
        monkeypatch.delenv(facts.variable, raising=False)
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("OXPULL_TEST_OWN_SERVERS", "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    (tmp_path / "test_it.py").write_text(
        "from tests.servers import launch\n"
        "launch.program = lambda kind: None\n"
        "def test_it(postgres_url):\n    raise AssertionError(postgres_url)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "tests.fixtures.servers", "-p", "no:cacheprovider", "-rs", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert outcome in done.stdout
    assert "PostgreSQL was not tested" in done.stdout
    assert "apt-get install postgresql" in done.stdout.replace("\n", " ")


def test_a_process_that_joins_a_session_does_not_end_it(own_session: Session) -> None:
    joined = Session()
    assert joined.folder == own_session.folder
    joined.close()
    assert own_session.folder.exists()


def test_a_url_is_pointed_at_another_database_with_its_options_kept() -> None:
    assert (
        with_database("postgresql://u:p@h:1/old?sslmode=require", "new") == "postgresql://u:p@h:1/new?sslmode=require"
    )


def test_a_password_is_never_printed() -> None:
    assert without_password("mysql://u:p@h:1/d?password=p") == "mysql://u@h:1/d"


def test_default_accounts_need_no_password() -> None:
    assert local_url("mysql", "root", 3306) == "mysql://root@127.0.0.1:3306/"
