"""Run the tests of the runtime on each database."""

from tests.fixtures.databases import ox, url

__all__ = ["ox", "url"]
