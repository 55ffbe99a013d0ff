"""Values with units."""

import click
import pytest

from oxpull_async.cli.options import duration, names, size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("90s", 90),
        ("15m", 900),
        ("12h", 43_200),
        ("7d", 604_800),
        ("2w", 1_209_600),
        ("0", 0),
    ],
)
def test_a_duration_is_seconds_or_has_a_unit(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "number"), [("1024", 1024), ("512M", 512 << 20), ("512MiB", 512 << 20), ("1.5g", 3 << 29), ("2kb", 2048)]
)
def test_a_size_is_bytes_or_has_a_unit(text: str, number: int) -> None:
    assert size(text) == number


@pytest.mark.parametrize("text", ["", "d", "-1", "7 days", "1e3", "inf"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="no duration"):
        duration(text)


@pytest.mark.parametrize("text", ["", "M", "0", "-1", "5X"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="no size"):
        size(text)


def test_names_have_commas_between_them() -> None:
    assert names("a, b,") == ("a", "b")
    with pytest.raises(click.BadParameter):
        names(" , ")
