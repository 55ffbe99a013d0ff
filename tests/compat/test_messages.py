"""Refusals of the core, in the words of a Django project."""

from datetime import UTC, datetime

import pytest

from compat_sync.exceptions import InvalidArguments, in_django
from tests.compat import shop


def test_refusals_speak_of_django(site: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        shop.send_invoice.enqueue(datetime.now(UTC))
    assert "annotation" not in str(refused.value)
    with pytest.raises(InvalidArguments, match=r'raise OPTIONS\["MAX_PAYLOAD_BYTES"\]'):
        shop.send_invoice.enqueue("x" * (1 << 21))
    assert in_django("name another one in the URL") == "name another one in DATABASES"
