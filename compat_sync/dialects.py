"""Which of the core's dialects a database speaks, by the vendor's name in Django."""

from collections.abc import Mapping
from types import MappingProxyType

from oxpull_async.db.contract import Dialect
from oxpull_async.drivers.dialects import MYSQL, POSTGRES, SQLITE

__all__ = ["DIALECTS"]

DIALECTS: Mapping[str, Dialect] = MappingProxyType({"postgresql": POSTGRES, "mysql": MYSQL, "sqlite": SQLITE})
