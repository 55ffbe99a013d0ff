"""The migrations of a version of compat_sync that knows two schema versions."""
