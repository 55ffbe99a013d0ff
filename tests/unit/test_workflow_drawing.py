"""Pictures of workflows: what stands in them, and that names cannot break out of them."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.workflow import NodeRecord, OnFailure
from oxpull_async.domain.workflow_drawing import COLOURS, mermaid, svg, text_lines

SVG = "{http://www.w3.org/2000/svg}"


def node(name: str, status: str | None = "READY", **upstreams: str) -> NodeRecord:
    found = {upstream: OnFailure(wanted) for upstream, wanted in upstreams.items()}
    return NodeRecord(name, "id", f"shop.{name}", None if status is None else TaskStatus(status), found)


NODES = [
    node("extract", "SUCCESSFUL"),
    node("prices", None),
    node("clean", "SUCCESSFUL", extract="discard"),
    node("check", "FAILED", extract="discard", prices="discard"),
    node("join", "DISCARDED", clean="discard", check="discard"),
    node("load", "DISCARDED", join="discard"),
    node("alarm", "RUNNING", check="run"),
    node("report", "WAITING", load="run", alarm="discard"),
]


def test_text_shows_each_node_once_under_what_it_waits_for() -> None:
    assert text_lines(NODES) == [
        "extract      SUCCESSFUL",
        "├─ clean     SUCCESSFUL",
        "│  ↓ join    DISCARDED  also after check",
        "│  ↓ load    DISCARDED",
        "│  ↓ report  WAITING  also after alarm  runs whatever comes of load",
        "└─ check     FAILED  also after prices",
        "   ↓ alarm   RUNNING  runs whatever comes of check",
        "prices       gone",
    ]
    assert text_lines([]) == []


def test_a_long_chain_is_not_set_in_and_not_recursive() -> None:
    chain = [node("0"), *(node(str(n), **{str(n - 1): "discard"}) for n in range(1, 3_000))]
    lines = text_lines(chain)
    assert len(lines) == 3_000
    assert max(map(len, lines)) < 20


def test_mermaid_names_every_node_and_edge() -> None:
    text = mermaid(NODES)
    assert text.startswith("flowchart TD\n")
    assert '  n0["extract<br/>SUCCESSFUL"]:::SUCCESSFUL' in text
    assert text.count(" --> ") == 7
    assert text.count(" -.-> ") == 2
    assert "classDef gone" in text


def test_svg_draws_a_box_a_node_and_a_line_an_edge_dashed_for_those_that_run_anyway() -> None:
    root = ET.fromstring(svg("etl", NODES))  # noqa: S314 - our own text
    boxes = root.findall(f"{SVG}g")
    assert len(boxes) == len(NODES)
    lines = root.findall(f"{SVG}path")
    assert len(lines) == 9
    assert len([line for line in lines if line.get("stroke-dasharray")]) == 2
    filled = {box.findtext(f"{SVG}title", "").splitlines()[0]: box.find(f"{SVG}rect") for box in boxes}
    check = filled["check"]
    assert check is not None
    assert check.get("fill") == COLOURS["FAILED"][0]


def test_every_status_has_its_colour() -> None:
    assert COLOURS.keys() >= set(TaskStatus)


@given(st.text(min_size=1, max_size=40), st.text(max_size=20))
def test_no_name_breaks_out_of_a_picture(name: str, title: str) -> None:
    nodes = [node("first"), NodeRecord(f"n{name}", "id", None, None, {"first": OnFailure.RUN, "pruned": OnFailure.RUN})]
    root = ET.fromstring(svg(title, nodes))  # noqa: S314 - our own text
    assert len(root.findall(f"{SVG}g")) == 2
    assert len(mermaid(nodes).splitlines()) == 6
    assert len(text_lines(nodes)) == 2
    assert all("\n" not in line for line in text_lines(nodes))
