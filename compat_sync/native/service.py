"""Find and read libpq's service files, and know its environment variables."""

from configparser import ConfigParser, Error
from pathlib import Path
from types import MappingProxyType

from compat_sync.native.entry import Setting, Settings, Surroundings

__all__ = ["VARIABLES", "UnknownService", "service_settings"]

VARIABLES = MappingProxyType(
    {
        "PGHOST": "host",
        "PGHOSTADDR": "hostaddr",
        "PGPORT": "port",
        "PGDATABASE": "dbname",
        "PGUSER": "user",
        "PGPASSWORD": "password",
        "PGPASSFILE": "passfile",
        "PGREQUIREAUTH": "require_auth",
        "PGCHANNELBINDING": "channel_binding",
        "PGOPTIONS": "options",
        "PGAPPNAME": "application_name",
        "PGSSLMODE": "sslmode",
        "PGSSLNEGOTIATION": "sslnegotiation",
        "PGSSLCOMPRESSION": "sslcompression",
        "PGSSLCERT": "sslcert",
        "PGSSLKEY": "sslkey",
        "PGSSLCERTMODE": "sslcertmode",
        "PGSSLROOTCERT": "sslrootcert",
        "PGSSLCRL": "sslcrl",
        "PGSSLCRLDIR": "sslcrldir",
        "PGSSLSNI": "sslsni",
        "PGREQUIREPEER": "requirepeer",
        "PGSSLMINPROTOCOLVERSION": "ssl_min_protocol_version",
        "PGSSLMAXPROTOCOLVERSION": "ssl_max_protocol_version",
        "PGGSSENCMODE": "gssencmode",
        "PGGSSDELEGATION": "gssdelegation",
        "PGCONNECT_TIMEOUT": "connect_timeout",
        "PGTARGETSESSIONATTRS": "target_session_attrs",
        "PGLOADBALANCEHOSTS": "load_balance_hosts",
    }
)
_FILE = "pg_service.conf"
_DEBIAN = "/etc/postgresql-common"


class UnknownService(Exception):
    """A service that no file describes; the text says where it was looked for."""


def service_settings(said: Settings, around: Surroundings) -> Settings:
    """Return what the service says that the settings or PGSERVICE name, if they do.

    Raises: UnknownService when no file has it, or one cannot be read.
    """
    service = said.get("service") or around.variables({"PGSERVICE": "service"}).get("service")
    if service is None:
        return {}
    files = _files(said, around)
    for file in files:
        sections = _sections(file, service)
        if sections.has_section(service.value):
            found = dict(sections[service.value])
            return {
                key: Setting(value, f"{key} of the service {service.value!r}") for key, value in found.items() if value
            }
    places = " and ".join(map(str, files))
    raise UnknownService(
        f"{service.origin} is {service.value!r}: neither of {places} has it. Name the file by the environment variable "
        "PGSERVICEFILE, or say HOST, PORT, USER and NAME."
    )


def _files(said: Settings, around: Surroundings) -> tuple[Path, Path]:
    given = said["servicefile"].value if "servicefile" in said else around.environ.get("PGSERVICEFILE")
    system = around.environ.get("PGSYSCONFDIR") or _DEBIAN
    return Path(given) if given else around.home / f".{_FILE}", Path(system) / _FILE


def _sections(file: Path, service: Setting) -> ConfigParser:
    sections = ConfigParser(
        delimiters=("=",),
        comment_prefixes=("#",),
        strict=False,
        interpolation=None,
        default_section="",
        empty_lines_in_values=False,
    )
    try:
        sections.read_string(file.read_text(encoding="utf-8") if file.is_file() else "")
    except (OSError, UnicodeDecodeError, Error) as error:
        reason = type(error).__name__
        raise UnknownService(
            f"{service.origin} is {service.value!r}: {file} cannot be read ({reason}). Correct it, or say HOST, PORT, "
            "USER and NAME."
        ) from None
    return sections
