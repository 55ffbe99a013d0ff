"""The pages of workflows: how far each is, its nodes, and a picture of them."""

from collections.abc import Sequence

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from compat_sync import clock
from compat_sync.admin.counted import CountedAdmin
from compat_sync.admin.links import badge, url_of
from compat_sync.connection import DjangoConnection
from compat_sync.models import OxpullWorkflow, OxpullWorkflowCounts
from compat_sync.placement import database_alias
from compat_sync.shim import run_blocking
from oxpull_async.domain.workflow import NodeRecord
from oxpull_async.domain.workflow_drawing import status_word, svg
from oxpull_async.store.workflows import list_nodes

__all__ = ["WorkflowAdmin"]

MOST_DRAWN, MOST_LISTED = 150, 1_000


@admin.register(OxpullWorkflow)
class WorkflowAdmin(CountedAdmin):
    """Workflows, the youngest first."""

    counts = OxpullWorkflowCounts.objects
    parts = "nodes"
    fields = readonly_fields = (*CountedAdmin.fields, "graph")

    @admin.display(description="nodes")
    def graph(self, flow: OxpullWorkflow) -> SafeString:
        """Draw the nodes, and list them with links to their tasks."""
        if flow.nodes > MOST_LISTED:
            return format_html("More than {}: see `oxpull workflow show {}`.", MOST_LISTED, flow.pk)
        conn = DjangoConnection(database_alias(), clock_offset=clock.offset())
        nodes = run_blocking(list_nodes(conn, str(flow.pk)))
        return format_html("{}{}", self._drawn(flow, nodes), self._listed(nodes))

    def _drawn(self, flow: OxpullWorkflow, nodes: Sequence[NodeRecord]) -> SafeString:
        if not nodes or len(nodes) > MOST_DRAWN:
            return SafeString("")
        drawing = mark_safe(svg(flow.name, nodes))  # noqa: S308 - every text in it has been escaped
        return format_html('<div class="oxpull-graph">{}</div>', drawing)

    def _listed(self, nodes: Sequence[NodeRecord]) -> SafeString:
        lines = [
            (
                url_of("oxpulltask", node.task_id, self.admin_site.name),
                node.name,
                badge(status_word(node)),
                node.task_path or "",
                ", ".join(node.upstreams) and f"after {', '.join(node.upstreams)}",
            )
            for node in nodes
        ]
        return format_html("<ul>{}</ul>", format_html_join("", '<li><a href="{}">{}</a> {} {} {}</li>', lines))
