"""The scenarios of `make proof` about bulk enqueues, at a small size."""

import pytest

from oxpull_async import Oxpull
from tests.app.kit import unmasked
from tests.scenarios.bulk import stored_in_bulk, unstorable_values

pytestmark = pytest.mark.asyncio


async def test_a_bulk_enqueue_stores_all_rows_or_none(ox: Oxpull) -> None:
    stored = await stored_in_bulk(unmasked(ox), rows=1_000)
    assert stored.refused == "call 999 (tests.scenarios.bulk.anything)"


async def test_values_that_cannot_be_stored_harm_nothing_else(ox: Oxpull) -> None:
    assert (await unstorable_values(unmasked(ox), others=20)).others_done == 20
