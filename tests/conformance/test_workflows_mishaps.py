"""Whatever befalls the nodes of a random graph, it ends as its edges say; the proof plays a thousand."""

import pytest

from oxpull_async.db.contract import Connection
from tests.scenarios.mishaps import play


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_befalls_its_nodes_a_graph_ends_as_its_edges_say(conn: Connection, seed: int) -> None:
    await play(conn, seed)
