"""What TASKS says of a backend, read and checked."""

from compat_sync.options.backend import (
    DEFAULT_GRACE,
    SESSION,
    BackendOptions,
    examine,
    mended,
    read_options,
)

__all__ = ["DEFAULT_GRACE", "SESSION", "BackendOptions", "examine", "mended", "read_options"]
