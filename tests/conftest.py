"""Load the fixtures; each subject has a file of its own under tests/fixtures."""

pytest_plugins = ["tests.fixtures.order", "tests.fixtures.servers"]
