"""A version of compat_sync that knows one schema version more than the present one."""
