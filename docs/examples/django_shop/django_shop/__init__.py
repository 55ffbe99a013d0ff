"""A small shop in Django whose background tasks are rows of its own database."""

from contextlib import suppress
from importlib.util import find_spec

# Django reaches MySQL and MariaDB by mysqlclient. Where that is not installed, PyMySQL takes its place.
if find_spec("MySQLdb") is None:
    with suppress(ImportError):
        import pymysql

        pymysql.install_as_MySQLdb()
