"""What an edge comes to, which nodes a retry revives, and what becomes of the callbacks; without a database."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.batch import BatchStatus
from oxpull_async.domain.batch_counts import Counted, Counts
from oxpull_async.domain.revival import revivable
from oxpull_async.domain.workflow import EdgeState, OnFailure, reopened_callbacks
from oxpull_async.domain.workflow_moves import Moves, Node, WaitingNode, edge_state

OPEN = Counts("flow", BatchStatus.OPEN, None, 0, 0, 0, cancelled=False)
SEALED = replace(OPEN, status=BatchStatus.SEALED, total=9)
MET, FAILED = EdgeState.MET, EdgeState.FAILED
BAD = (Counted.FAILED, Counted.UNATTRIBUTED)


@pytest.mark.parametrize("on_failure", OnFailure)
@pytest.mark.parametrize("counts", [OPEN, SEALED, replace(SEALED, cancelled=True)])
def test_a_success_meets_an_edge_and_a_pending_node_leaves_it_open(counts: Counts, on_failure: OnFailure) -> None:
    assert edge_state(counts, Counted.SUCCEEDED, on_failure) is MET
    assert edge_state(counts, None, on_failure) is None


@pytest.mark.parametrize("counted", BAD)
def test_a_bad_end_counts_once_sealed_and_not_while_a_cancelled_workflow_is_stopped(counted: Counted) -> None:
    assert [edge_state(SEALED, counted, wish) for wish in (OnFailure.DISCARD, OnFailure.RUN)] == [FAILED, MET]
    for counts in (OPEN, replace(SEALED, cancelled=True)):
        assert [edge_state(counts, counted, wish) for wish in OnFailure] == [None, None]
    stopped = replace(SEALED, cancelled=True, status=BatchStatus.COMPLETE)
    assert [edge_state(stopped, counted, wish) for wish in (OnFailure.DISCARD, OnFailure.RUN)] == [FAILED, MET]


def test_a_node_is_released_by_its_last_edge_and_ended_by_its_first_failed_one() -> None:
    moves = Moves({"flow": SEALED}, 9)
    assert moves.move(node("a"), Counted.SUCCEEDED)
    assert not moves.move(node("a"), Counted.SUCCEEDED)
    assert moves.change([edge("a", "b", MET, unmet=2)]) == ["b"]
    assert moves.may_act(["b"], ()) == []
    moves.know(node("c"))
    assert moves.change([edge("c", "b", MET, unmet=2)]) == ["b"]
    assert not moves.act(WaitingNode("b", "mail", is_member=False, failed=None))
    assert moves.released == {"b": "mail"}
    assert moves.change([edge("c", "d", FAILED, unmet=1)]) == ["d"]
    assert moves.act(WaitingNode("d", "mail", is_member=True, failed=None))
    assert (list(moves.discarded), moves.members) == (["d"], ["d"])
    assert [(row["id"], row["cascaded"]) for row in moves.changed_nodes] == [("a", False), ("b", False), ("d", True)]
    [counts] = moves.changed_counts
    assert (counts.succeeded, counts.unattributed) == (1, 1)


def test_nothing_is_released_or_ended_while_a_cancelled_workflow_is_stopped() -> None:
    moves = Moves({"flow": replace(SEALED, cancelled=True)}, 9)
    moves.know(node("a"))
    moves.change([edge("a", "b", MET, unmet=1)])
    assert moves.may_act(["b"], ["b"]) == []


def node(name: str, unmet: int = 0) -> Node:
    return Node(name, "flow", name, unmet, None, cascaded=False, recheck=False)


def edge(upstream: str, downstream: str, state: EdgeState | None, *, unmet: int) -> list[object]:
    """Give a row of `find_edges` of an edge that is open as yet."""
    return [upstream, downstream, state, None, downstream, "flow", downstream, unmet, None, False, None]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[str, str, str | None]]]:
    """Draw a graph of up to nine nodes, each behind some before it, a few of which are outside."""
    size = draw(st.integers(1, 9))
    edges = []
    for number in range(size):
        for upstream in draw(st.sets(st.integers(-3, number - 1))) if number else ():
            counted = draw(st.sampled_from(["succeeded", "failed", "unattributed", None]))
            edges.append((str(upstream), str(number), counted))
    return size, edges


@given(graphs())
def test_what_is_revived_has_no_bad_upstream_that_is_not_and_nothing_is_left_out(
    graph: tuple[int, list[tuple[str, str, str | None]]],
) -> None:
    size, edges = graph
    ids = {str(number) for number in range(size)}
    revived = revivable(ids, edges)
    for id_ in ids:
        doomed = any(
            (upstream in ids and upstream not in revived) or (upstream not in ids and counted in BAD)
            for upstream, downstream, counted in edges
            if downstream == id_
        )
        assert (id_ in revived) != doomed


def test_callbacks_that_were_due_are_spent_unless_they_are_to_come_again() -> None:
    old = "0189" + "0" * 28
    callbacks = [{"when": "complete", "task": {"id": old, "args": "[]"}}]
    assert reopened_callbacks(callbacks, were_due=False, again=True) == callbacks
    spent = reopened_callbacks(callbacks, were_due=True, again=False)
    assert spent == [{**callbacks[0], "spent": True}]
    assert reopened_callbacks(spent, were_due=False, again=False) == spent
    [fresh] = reopened_callbacks(spent, were_due=True, again=True)
    assert (fresh["when"], "spent" in fresh, fresh["task"]["args"]) == ("complete", False, "[]")
    assert fresh["task"]["id"] != old
    assert fresh["task"]["id"][:20] == old[:20]
