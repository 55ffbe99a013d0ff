"""The pages of workflows."""

from django.test import Client

from compat_sync import workflows
from compat_sync.admin import workflows as pages
from tests.compat import flowing
from tests.compat.admin.pages import text

PAGE = "/admin/compat_sync/oxpullworkflow/"


def test_a_workflow_says_how_far_it_is(admin_site: str, viewer: Client) -> None:
    flow = workflows.create("nightly", on_complete=flowing.told, on_complete_args=["told"])
    flow.add("first", flowing.step, "first")
    flow.add("second", flowing.step, "second", depends_on="first")
    for address in ("", "?q=night", f"{flow.id}/change/"):
        page = text(viewer.get(PAGE + address))
        assert "2 nodes: 2 pending, 0 succeeded, 0 failed, 0 unattributed" in page
        assert "OPEN" in page
    assert "tests.compat.flowing.told" in page
    flow.cancel()
    assert "2 nodes: 0 pending, 0 succeeded, 0 failed, 2 unattributed" in text(viewer.get(PAGE))
    assert "nightly" not in text(viewer.get(PAGE, {"q": "other"}))


def test_its_nodes_are_drawn_and_listed_with_links_to_their_tasks(admin_site: str, viewer: Client) -> None:
    flow = workflows.create("<b>&")
    first = flow.add("<i>first", flowing.step, "first")
    flow.add("second", flowing.step, "second", depends_on="<i>first")
    page = text(viewer.get(f"{PAGE}{flow.id}/change/"))
    assert '<div class="oxpull-graph">' in page
    assert f"/oxpulltask/{first.id}/change/" in page
    assert "after &lt;i&gt;first" in page
    assert "<i>first" not in page
    assert "<b>&" not in page


def test_a_workflow_without_nodes_has_a_page_and_so_has_one_too_big_to_draw(admin_site: str, viewer: Client) -> None:
    flow = workflows.create("empty")
    assert "oxpull-graph" not in text(viewer.get(f"{PAGE}{flow.id}/change/"))
    many = [workflows.Node(f"n{number}", flowing.step, ["x"]) for number in range(pages.MOST_DRAWN + 1)]
    flow.add_many(many)
    page = text(viewer.get(f"{PAGE}{flow.id}/change/"))
    assert "oxpull-graph" not in page
    assert f">n{pages.MOST_DRAWN}</a>" in page
    pages.MOST_LISTED, most = 10, pages.MOST_LISTED
    try:
        assert f"oxpull workflow show {flow.id}" in text(viewer.get(f"{PAGE}{flow.id}/change/"))
    finally:
        pages.MOST_LISTED = most
