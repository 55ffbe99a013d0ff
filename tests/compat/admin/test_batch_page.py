"""The pages of batches."""

from django.test import Client

from compat_sync import batches
from tests.compat import batched, shop
from tests.compat.admin.pages import text

PAGE = "/admin/compat_sync/oxpullbatch/"


def test_a_batch_says_how_far_it_is(admin_site: str, viewer: Client) -> None:
    batch = batches.create("nightly", on_complete=batched.told, on_complete_args=["told"])
    batch.add_many(shop.send_invoice, [([1], {}), ([2], {})])
    for address in ("", "?q=night", f"{batch.id}/change/"):
        page = text(viewer.get(PAGE + address))
        assert "2 members: 2 pending, 0 succeeded, 0 failed, 0 unattributed" in page
        assert "OPEN" in page
    assert "tests.compat.batched.told" in page
    batch.cancel()
    assert "2 members: 0 pending, 0 succeeded, 0 failed, 2 unattributed" in text(viewer.get(PAGE))
    assert "nightly" not in text(viewer.get(PAGE, {"q": "other"}))
