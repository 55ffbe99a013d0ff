"""Let a test that takes `ox` or `url` run on each database."""

from tests.fixtures.databases import ox, url

__all__ = ["ox", "url"]
