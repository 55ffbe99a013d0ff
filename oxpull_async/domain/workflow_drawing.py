"""Workflows as pictures: text for a terminal, Mermaid for documents, SVG for a browser."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from oxpull_async.domain.graph import Place, layers, layout
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.workflow import NodeRecord, OnFailure

GONE = "gone"
COLUMN, LAYER, BOX, HIGH, MARGIN, TITLE = 184, 96, 160, 44, 24, 32
MOST_SHOWN = 22
COLOURS: Mapping[str, tuple[str, str]] = {
    TaskStatus.READY: ("#dbeafe", "#1d4ed8"),
    TaskStatus.WAITING: ("#f3f4f6", "#6b7280"),
    TaskStatus.RUNNING: ("#fef3c7", "#b45309"),
    TaskStatus.SUCCESSFUL: ("#dcfce7", "#15803d"),
    TaskStatus.FAILED: ("#fee2e2", "#b91c1c"),
    TaskStatus.LOST: ("#fce7f3", "#be185d"),
    TaskStatus.DISCARDED: ("#e5e7eb", "#374151"),
    GONE: ("#ffffff", "#9ca3af"),
}
_ARROW = (
    '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0 8 4 0 8z" fill="#6b7280"/></marker></defs>'
)
_GROUND = '<rect width="100%" height="100%" fill="#ffffff"/>'
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NO_MERMAID = re.compile(r"[^\w .,:/@()\[\]+-]")


def status_word(node: NodeRecord) -> str:
    """Return a node's status; a task whose row is not there any more is gone."""
    return GONE if node.status is None else node.status.value


def text_lines(nodes: Sequence[NodeRecord]) -> list[str]:
    """Draw a workflow as text, a line a node.

    Each node stands once, under the last one that it depends on, whose only follower is not set in; the others that it
    depends on are named beside it.
    """
    before = _before(nodes)
    found = layers(before)
    parents = {name: max(upstreams, key=found.__getitem__) for name, upstreams in before.items() if upstreams}
    below: dict[str | None, list[str]] = {}
    for name in found:
        below.setdefault(parents.get(name), []).append(name)
    by_name = {node.name: node for node in nodes}
    drawn = [(lead + _line(name), _beside(by_name[name], parents.get(name))) for lead, name in _walk(below)]
    width = max((len(left) for left, _ in drawn), default=0)
    return [f"{left:<{width}}  {right}" for left, right in drawn]


def mermaid(nodes: Sequence[NodeRecord]) -> str:
    """Draw a workflow as a Mermaid flowchart; dotted edges let a node run also after a bad end."""
    numbers = {name: f"n{number}" for number, name in enumerate(layers(_before(nodes)))}
    lines = ["flowchart TD"]
    for node in sorted(nodes, key=lambda node: int(numbers[node.name][1:])):
        lines.append(f'  {numbers[node.name]}["{_mermaid(node.name)}<br/>{status_word(node)}"]:::{status_word(node)}')
        lines += [
            f"  {numbers[upstream]} {'-.->' if wanted is OnFailure.RUN else '-->'} {numbers[node.name]}"
            for upstream, wanted in node.upstreams.items()
            if upstream in numbers
        ]
    for status in sorted({status_word(node) for node in nodes}):
        fill, line = COLOURS[status]
        lines.append(f"  classDef {status} fill:{fill},stroke:{line},color:#111827")
    return "\n".join(lines) + "\n"


def svg(title: str, nodes: Sequence[NodeRecord]) -> str:
    """Draw a workflow as an SVG document; dashed edges let a node run also after a bad end."""
    drawn = layout(_before(nodes))
    width = max(drawn.width, 2) * COLUMN - (COLUMN - BOX) + 2 * MARGIN
    height = max(drawn.height, 1) * LAYER - (LAYER - HIGH) + 2 * MARGIN + TITLE
    by_name = {node.name: node for node in nodes}
    edges = [_edge(by_name[upstream], by_name[name], line) for (upstream, name), line in drawn.lines.items()]
    boxes = [_box(node, drawn.places[node.name]) for node in nodes]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="system-ui, sans-serif" font-size="12">'
    )
    told = f'<text x="{MARGIN}" y="{MARGIN + 4}" font-size="14" font-weight="600" fill="#111827">{_xml(title)}</text>'
    return "\n".join([head, f"<title>{_xml(title)}</title>", _ARROW, _GROUND, told, *edges, *boxes, "</svg>\n"])


def _before(nodes: Sequence[NodeRecord]) -> dict[str, list[str]]:
    """Return what comes before each node, of those that are there."""
    known = {node.name for node in nodes}
    return {node.name: [upstream for upstream in node.upstreams if upstream in known] for node in nodes}


def _walk(below: Mapping[str | None, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Give each name with what stands left of it, followed by those below it."""
    stack = [("", "", name) for name in reversed(below.get(None, ()))]
    while stack:
        lead, mark, name = stack.pop()
        yield lead + mark, name
        followers = below.get(name, ())
        inner = lead + {"├─ ": "│  ", "└─ ": "   "}.get(mark, "")
        if len(followers) == 1:
            stack.append((inner, "↓ ", followers[0]))
        else:
            marks = [*["├─ "] * (len(followers) - 1), "└─ "]
            stack += reversed([(inner, mark, follower) for mark, follower in zip(marks, followers, strict=False)])


def _beside(node: NodeRecord, parent: str | None) -> str:
    """Return a node's status, what else it depends on, and after whose bad end it runs as well."""
    others = [_line(name) for name in node.upstreams if name != parent]
    runs = [_line(name) for name, wanted in node.upstreams.items() if wanted is OnFailure.RUN]
    also = f"  also after {', '.join(others)}" if others else ""
    anyway = f"  runs whatever comes of {', '.join(runs)}" if runs else ""
    return f"{status_word(node)}{also}{anyway}"


def _box(node: NodeRecord, place: Place) -> str:
    fill, line = COLOURS[status_word(node)]
    left, top = MARGIN + place.column * COLUMN, MARGIN + TITLE + place.layer * LAYER
    middle = left + BOX / 2
    name = node.name if len(node.name) <= MOST_SHOWN else f"{node.name[: MOST_SHOWN - 1]}…"
    told = "\n".join([node.name, node.task_path or "", node.task_id, status_word(node)])
    return (
        f'<g><title>{_xml(told)}</title><rect x="{left:g}" y="{top:g}" width="{BOX}" height="{HIGH}" rx="8" '
        f'fill="{fill}" stroke="{line}"/><text x="{middle:g}" y="{top + 19:g}" text-anchor="middle" font-weight="600" '
        f'fill="#111827">{_xml(name)}</text><text x="{middle:g}" y="{top + 35:g}" text-anchor="middle" font-size="10" '
        f'fill="{line}">{status_word(node)}</text></g>'
    )


def _edge(upstream: NodeRecord, node: NodeRecord, line: Sequence[Place]) -> str:
    points = [(MARGIN + place.column * COLUMN + BOX / 2, MARGIN + TITLE + place.layer * LAYER) for place in line]
    x, y = points[0][0], points[0][1] + HIGH
    path = [f"M{x:g} {y:g}"]
    for number, (to_x, to_y) in enumerate(points[1:], start=2):
        bow = (to_y - y) / 2
        path.append(f"C{x:g} {y + bow:g} {to_x:g} {to_y - bow:g} {to_x:g} {to_y:g}")
        x, y = to_x, to_y
        if number < len(points):
            y += HIGH
            path.append(f"V{y:g}")
    dashes = ' stroke-dasharray="5 4"' if node.upstreams[upstream.name] is OnFailure.RUN else ""
    return f'<path d="{" ".join(path)}" fill="none" stroke="#6b7280"{dashes} marker-end="url(#end)"/>'


def _line(text: str) -> str:
    return re.sub(r"\s", " ", text)


def _xml(text: str) -> str:
    return escape(_NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text))


def _mermaid(text: str) -> str:
    return _NO_MERMAID.sub(lambda found: f"#{ord(found[0])};", text)
