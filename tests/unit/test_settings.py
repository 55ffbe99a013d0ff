"""Settings are checked where they are written."""

import pytest

from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.settings import Settings, SettingsKeywords


def test_F6_an_unknown_setting_is_a_type_error_that_names_the_nearest() -> None:
    with pytest.raises(TypeError, match="did you mean 'lease_seconds'"):
        Settings.of({"lease_second": 3})  # type: ignore[typeddict-unknown-key]


def send() -> None:
    pass


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease_seconds": 0.5},
        {"alias": ""},
        {"alias": "a\0"},
        {"queues": "mail"},
        {"max_payload_bytes": 1},
        {"max_payload_bytes": 1.5},
        {"max_attempts": 0},
        {"timeout": 0},
        {"backoff": "fast"},
        {"unique_tasks": "shop.tasks.send"},
        {"unique_tasks": ["send"]},
        {"unique_tasks": [send]},
        {"unique_ttl": 0},
        {"unique_ttl": float("inf")},
    ],
)
def test_a_setting_out_of_range_is_refused(wrong: SettingsKeywords) -> None:
    with pytest.raises(UsageError):
        Settings.of(wrong)


def test_the_defaults_are_the_documented_ones() -> None:
    settings = Settings.of({})
    assert (settings.alias, settings.lease_seconds, settings.max_payload_bytes) == ("default", 30, 1_048_576)
    assert (settings.defaults.max_attempts, settings.defaults.timeout, settings.queues) == (3, None, frozenset())
