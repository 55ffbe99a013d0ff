"""Where the nodes of a graph stand in a drawing, with few crossings and short lines."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 4
MOST_BENDS = 20_000

type Edges = Mapping[str, Sequence[str]]
"""The names that come before each name; all names are keys."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: its layer from the top, and its distance from the left in columns."""

    layer: int
    column: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph that is ready to be drawn.

    `lines` are the bends of each edge, (upstream, downstream), from one end to the other.
    """

    places: Mapping[str, Place]
    lines: Mapping[tuple[str, str], Sequence[Place]]

    @property
    def height(self) -> int:
        """How many layers it has."""
        return max((place.layer + 1 for place in self.places.values()), default=0)

    @property
    def width(self) -> float:
        """How many columns it has."""
        bends = [bend for line in self.lines.values() for bend in line]
        return max((place.column + 1 for place in (*self.places.values(), *bends)), default=0.0)


def layers(before: Edges) -> dict[str, int]:
    """Return the layer of each name, one below the lowest that comes before it.

    The names are in an order in which they may run.
    """
    after: dict[str, list[str]] = {name: [] for name in before}
    open_edges = {name: len(set(upstreams)) for name, upstreams in before.items()}
    for name, upstreams in before.items():
        for upstream in dict.fromkeys(upstreams):
            after[upstream].append(name)
    ready = deque(name for name, count in open_edges.items() if not count)
    found: dict[str, int] = {}
    while ready:
        name = ready.popleft()
        found[name] = max((found[upstream] + 1 for upstream in before[name]), default=0)
        for downstream in after[name]:
            open_edges[downstream] -= 1
            if not open_edges[downstream]:
                ready.append(downstream)
    return found


def layout(before: Edges) -> Layout:
    """Place the nodes of a graph without cycles, and bend its edges around them."""
    found = layers(before)
    chains = _chains(before, found)
    rows, above, below = _rows(found, chains), _neighbours(chains, upward=True), _neighbours(chains, upward=False)
    for _ in range(SWEEPS):
        _sort(rows, above)
        _sort(rows[::-1], below)
    _sort(rows, above)
    places = _places(rows, above, below)
    return Layout(
        {name: places[name, 0, ""] for name in found},
        {edge: [places[point] for point in chain] for edge, chain in chains.items()},
    )


type _Point = tuple[str, int, str]
"""A node, (name, 0, ""), or the bend of an edge in a layer, (upstream, layer, downstream)."""


def _chains(before: Edges, found: Mapping[str, int]) -> dict[tuple[str, str], list[_Point]]:
    """Return what each edge runs through; edges run straight where there would be too many bends."""
    edges = [(upstream, name) for name, upstreams in before.items() for upstream in dict.fromkeys(upstreams)]
    bends = sum(found[name] - found[upstream] - 1 for upstream, name in edges)
    chains = {}
    for upstream, name in edges:
        between = range(found[upstream] + 1, found[name]) if bends <= MOST_BENDS else ()
        chains[upstream, name] = [(upstream, 0, ""), *((upstream, layer, name) for layer in between), (name, 0, "")]
    return chains


def _rows(found: Mapping[str, int], chains: Mapping[tuple[str, str], Sequence[_Point]]) -> list[list[_Point]]:
    rows: list[list[_Point]] = [[] for _ in range(max(found.values(), default=-1) + 1)]
    for name, layer in found.items():
        rows[layer].append((name, 0, ""))
    for chain in chains.values():
        for bend in chain[1:-1]:
            rows[bend[1]].append(bend)
    return rows


def _neighbours(chains: Mapping[tuple[str, str], Sequence[_Point]], *, upward: bool) -> dict[_Point, list[_Point]]:
    """Return what each point is joined to in the direction in which a sweep looks back."""
    joined: dict[_Point, list[_Point]] = {}
    for chain in chains.values():
        for one, other in pairwise(chain):
            low, high = (other, one) if upward else (one, other)
            joined.setdefault(low, []).append(high)
    return joined


def _sort(rows: Sequence[list[_Point]], joined: Mapping[_Point, Sequence[_Point]]) -> None:
    """Sort each row by where the points stand that its own are joined to; a point without any keeps its place."""
    places: dict[_Point, float] = {}
    for row in rows:
        wanted = {
            point: _mean([places.get(other, place) for other in joined.get(point, ())], float(place))
            for place, point in enumerate(row)
        }
        row.sort(key=wanted.__getitem__)
        places |= {point: float(place) for place, point in enumerate(row)}


def _places(
    rows: Sequence[Sequence[_Point]],
    above: Mapping[_Point, Sequence[_Point]],
    below: Mapping[_Point, Sequence[_Point]],
) -> dict[_Point, Place]:
    """Move each row, in its order, to where the rows above and below it are joined to it."""
    columns = {point: float(place) for row in rows for place, point in enumerate(row)}
    both = {point: [*above.get(point, ()), *below.get(point, ())] for point in columns}
    for joined, order in ((above, rows), (below, rows[::-1]), (both, rows), (both, rows[::-1])):
        for row in order:
            wanted = [_mean([columns[other] for other in joined.get(point, ())], columns[point]) for point in row]
            columns |= dict(zip(row, spread(wanted), strict=True))
    leftmost = min(columns.values(), default=0.0)
    return {point: Place(layer, round(columns[point] - leftmost, 3)) for layer, row in enumerate(rows) for point in row}


def spread(wanted: Sequence[float]) -> list[float]:
    """Return places in the same order, each at least 1 from the next, near the wanted ones.

    Neighbours that want to stand too close make a group, which stands where its mean wants to.
    """
    groups: list[tuple[float, int]] = []
    for place, want in enumerate(wanted):
        total, count = want - place, 1
        while groups and groups[-1][0] / groups[-1][1] >= total / count:
            before = groups.pop()
            total, count = total + before[0], count + before[1]
        groups.append((total, count))
    starts = [total / count for total, count in groups for _ in range(count)]
    return [start + place for place, start in enumerate(starts)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
