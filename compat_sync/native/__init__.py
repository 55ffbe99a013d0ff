"""Native drivers for the databases that Django knows."""

from compat_sync.native.aiosqlite import is_for_tests
from compat_sync.native.database import (
    NativeDatabase,
    close_all,
    may_go_native,
    missing_driver,
    unexpressible,
)

__all__ = ["NativeDatabase", "close_all", "is_for_tests", "may_go_native", "missing_driver", "unexpressible"]
