"""The layout of a drawing: every node below what comes before it, none on another, short lines."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.graph import Place, layers, layout, spread

DIAMOND = {"join": ["left", "right"], "left": ["start"], "right": ["start"], "start": []}


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Draw a graph without cycles, its names in any order."""
    size = draw(st.integers(0, 12))
    edges = {str(n): draw(st.lists(st.integers(0, n - 1), max_size=4)) if n else [] for n in range(size)}
    names = draw(st.permutations(list(edges)))
    return {name: [str(upstream) for upstream in edges[name]] for name in names}


def test_a_diamond_stands_upright() -> None:
    assert layers(DIAMOND) == {"start": 0, "left": 1, "right": 1, "join": 2}
    drawn = layout(DIAMOND)
    assert (drawn.height, drawn.width) == (3, 2.0)
    assert drawn.places["start"] == Place(0, 0.5)
    assert drawn.places["join"] == Place(2, 0.5)
    assert {drawn.places[name].column for name in ("left", "right")} == {0.0, 1.0}


def test_a_long_edge_bends_around_what_is_between() -> None:
    drawn = layout({"a": [], "b": ["a"], "c": ["b", "a"]})
    [start, bend, end] = drawn.lines["a", "c"]
    assert (start, bend.layer, end) == (drawn.places["a"], 1, drawn.places["c"])
    assert abs(bend.column - drawn.places["b"].column) >= 1


def test_nothing_is_drawn_of_nothing() -> None:
    drawn = layout({})
    assert (drawn.height, drawn.width, dict(drawn.lines)) == (0, 0.0, {})


def test_a_long_chain_is_one_column() -> None:
    drawn = layout({"0": []} | {str(n): [str(n - 1)] for n in range(1, 2_000)})
    assert (drawn.height, drawn.width) == (2_000, 1.0)


@given(graphs())
def test_every_node_stands_below_what_comes_before_it_and_on_no_other(graph: dict[str, list[str]]) -> None:
    drawn = layout(graph)
    assert drawn.places.keys() == graph.keys()
    for name, upstreams in graph.items():
        assert all(drawn.places[upstream].layer < drawn.places[name].layer for upstream in upstreams)
    points = set(drawn.places.values()) | {bend for line in drawn.lines.values() for bend in line}
    ordered = sorted(points, key=lambda place: (place.layer, place.column))
    assert len(set(drawn.places.values())) == len(graph)
    assert all(other.column - one.column > 0.99 for one, other in pairwise(ordered) if one.layer == other.layer)
    assert min((place.column for place in points), default=0.0) >= 0
    for line in drawn.lines.values():
        assert [place.layer for place in line] == list(range(line[0].layer, line[-1].layer + 1))


@given(st.lists(st.floats(-50, 50), max_size=20))
def test_places_are_spread_in_order_and_no_further_than_they_must(wanted: list[float]) -> None:
    found = spread(wanted)
    assert all(other - one > 1 - 1e-6 for one, other in pairwise(found))
    if all(other - one >= 1 for one, other in pairwise(wanted)):
        assert all(abs(one - other) < 1e-6 for one, other in zip(found, wanted, strict=True))
    assert abs(sum(found) - sum(wanted)) < 1e-6 * (1 + len(wanted))
