"""What a caller may say about a node: its name, what it depends on, the rules of its task."""

import pytest

from oxpull_async.domain.errors import InvalidTask, UsageError
from oxpull_async.domain.keys import custom_key, workflow_key
from oxpull_async.domain.unique import Unique, UniqueRule
from oxpull_async.domain.workflow import OnFailure, PlannedNode
from oxpull_async.domain.workflow_plan import check_node_rule, checked_node_name, checked_unique_text, planned_node


@pytest.mark.parametrize(
    ("depends_on", "upstreams"),
    [
        (None, {}),
        ((), {}),
        ("a", {"a": "run"}),
        (["a", "b", "a"], {"a": "run", "b": "run"}),
        (iter(["a"]), {"a": "run"}),
        ({"a": "discard", "b": "run"}, {"a": "discard", "b": "run"}),
    ],
)
def test_a_node_depends_on_a_name_a_list_or_names_with_their_own_rule(
    depends_on: object, upstreams: dict[str, str]
) -> None:
    assert planned_node("n", depends_on, "run") == PlannedNode(
        "n", {name: OnFailure(on_failure) for name, on_failure in upstreams.items()}
    )


@pytest.mark.parametrize("name", ["", "n" * 129, "a\0b", 7, None])
def test_a_name_is_text_of_1_to_128_characters(name: object) -> None:
    with pytest.raises(UsageError, match="1 to 128"):
        checked_node_name(name)
    with pytest.raises(UsageError, match="1 to 128"):
        planned_node("n", [name])
    assert checked_node_name("n" * 128) == "n" * 128


def test_what_is_no_dependency_is_named() -> None:
    with pytest.raises(UsageError, match="depends_on=7 must be"):
        planned_node("n", 7)
    with pytest.raises(UsageError, match="depends_on\\['a'\\]='stop' must be"):
        planned_node("n", {"a": "stop"})
    with pytest.raises(UsageError, match="on_failure='stop' must be"):
        planned_node("n", "a", "stop")


@pytest.mark.parametrize("mode", ["replace", "debounce", "rerun"])
def test_D4_a_rule_that_changes_pending_tasks_is_refused_on_nodes(mode: str) -> None:
    unique = Unique(on_duplicate="debounce", wait=1) if mode == "debounce" else Unique(on_duplicate=mode)  # type: ignore[arg-type]
    with pytest.raises(InvalidTask, match=f"on_duplicate='{mode}'"):
        check_node_rule("shop.report", UniqueRule.of(unique, default_ttl=None))
    for kept in (None, UniqueRule.of(Unique(), default_ttl=None)):
        check_node_rule("shop.report", kept)


def test_a_workflows_text_is_text_and_no_tasks_key() -> None:
    assert (checked_unique_text(None), checked_unique_text("june")) == (None, "june")
    for wrong in ("", 7):
        with pytest.raises(UsageError, match="must be text"):
            checked_unique_text(wrong)
    assert workflow_key("a", "june") != workflow_key("b", "june")
    assert workflow_key("a", "june") != custom_key("a", "workflow", "", "june")
