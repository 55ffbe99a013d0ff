"""The first one, as it is."""

from importlib import import_module

Migration = import_module("compat_sync.migrations.0001_tasks").Migration
