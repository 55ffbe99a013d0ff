"""Start an installed server on a free port with a new data directory, and stop it again."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.servers import clients
from tests.servers.facts import Kind, ServerUnavailable, local_url

START_SECONDS = 40
STOP_SECONDS = 20
MAX_CONNECTIONS = 300
DETACHED = 'log=$1; shift; "$@" >"$log" 2>&1 </dev/null &'
PLACES = ("/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin")


def program(kind: Kind) -> Path | None:
    """Find the installed server's executable, the newest where there are several."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
    if kind == "mysql":
        found = shutil.which("mariadbd", path=path)
        return Path(found) if found and shutil.which("mariadb-install-db", path=path) else None
    folders = [Path(name).resolve().parent for name in [shutil.which("initdb", path=path)] if name]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    usable = [folder / "postgres" for folder in folders if (folder / "postgres").exists()]
    return usable[-1] if usable else None


def start(kind: Kind, executable: Path, *options: str) -> tuple[str, Path]:
    """Start a server that only this machine can reach, with more options; gives its URL and its folder."""
    home = Path(tempfile.mkdtemp(prefix=f"oxpull-{kind}-"))
    account = _account("postgres" if kind == "postgres" else "mysql")
    if account:
        shutil.chown(home, account, pwd.getpwnam(account).pw_gid)
    port = _free_port()
    prepare, serve = _postgres(executable, home, port) if kind == "postgres" else _mariadb(executable, home, port)
    try:
        _run(account, prepare)
        _run(account, ["sh", "-c", DETACHED, "sh", str(home / "log"), *serve, *options])
        url = local_url(kind, "postgres" if kind == "postgres" else "root", port)
        _wait_until_it_answers(kind, url, home)
    except ServerUnavailable:
        stop(home)
        raise
    return url, home


def stop(home: Path) -> None:
    """Stop the server that lives in this folder and remove the folder."""
    for pid_file in (home / "data" / "postmaster.pid", home / "pid"):
        with suppress(FileNotFoundError, ProcessLookupError, ValueError):
            pid = int(pid_file.read_text().split()[0])
            os.kill(pid, signal.SIGINT if pid_file.name == "postmaster.pid" else signal.SIGTERM)
            deadline = time.monotonic() + STOP_SECONDS
            while pid_file.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
    shutil.rmtree(home, ignore_errors=True)


def _postgres(executable: Path, home: Path, port: int) -> tuple[list[str], list[str]]:
    data = str(home / "data")
    initdb = str(executable.with_name("initdb"))
    settings = {
        "listen_addresses": "127.0.0.1",
        "max_connections": str(MAX_CONNECTIONS),
        "unix_socket_directories": str(home),
    }
    prepare = [initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    serve = [str(executable), "-D", data, "-p", str(port)]
    return prepare, serve + [f"--{name}={value}" for name, value in settings.items()]


def _mariadb(executable: Path, home: Path, port: int) -> tuple[list[str], list[str]]:
    path = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
    prepare = [shutil.which("mariadb-install-db", path=path) or "mariadb-install-db", "--no-defaults"]
    prepare += [f"--datadir={home / 'data'}", "--auth-root-authentication-method=normal", "--skip-test-db"]
    serve = [str(executable), "--no-defaults", f"--datadir={home / 'data'}", f"--socket={home / 'socket'}"]
    serve += [f"--pid-file={home / 'pid'}", f"--port={port}", "--bind-address=127.0.0.1"]
    return prepare, [*serve, f"--max-connections={MAX_CONNECTIONS}"]


def _account(preferred: str) -> str | None:
    """Name the account that a server started by root runs as; None keeps our own."""
    if os.geteuid() != 0:
        return None
    with suppress(KeyError):
        return pwd.getpwnam(preferred).pw_name
    return "nobody"


def _run(account: str | None, command: Sequence[str]) -> None:
    groups: list[str | int] | None = [] if account else None
    group = pwd.getpwnam(account).pw_gid if account else None
    done = subprocess.run(
        command, user=account, group=group, extra_groups=groups, cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ServerUnavailable(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-500:]}")


def _wait_until_it_answers(kind: Kind, url: str, home: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            clients.version(kind, url)
        except ServerUnavailable as error:
            if time.monotonic() > deadline:
                log = (home / "log").read_text(errors="replace") if (home / "log").exists() else ""
                raise ServerUnavailable(f"it did not answer within {START_SECONDS} s: {error}\n{log[-500:]}") from error
            time.sleep(0.1)
        else:
            return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
