"""What a caller says about a node that is to be added, checked."""

from collections.abc import Iterable, Mapping

from oxpull_async.domain.batch import MAX_NAME
from oxpull_async.domain.errors import InvalidTask, UsageError
from oxpull_async.domain.storable import is_name
from oxpull_async.domain.unique import OnDuplicate, UniqueRule
from oxpull_async.domain.workflow import OnFailure, PlannedNode

type DependsOn = str | Iterable[str] | Mapping[str, str] | None

KEPT = frozenset({OnDuplicate.EXISTING, OnDuplicate.RAISE})


def planned_node(name: object, depends_on: object = None, on_failure: object = OnFailure.DISCARD) -> PlannedNode:
    """Return where a task is to stand in its workflow.

    `depends_on` is a name, a list of names, or names with what becomes of the node if that one ends badly; `on_failure`
    is that for all names without their own.

    Raises: UsageError for what is none of these.
    """
    checked, otherwise = checked_node_name(name), _on_failure(f"node {name!r:.60}: on_failure", on_failure)
    match depends_on:
        case None:
            return PlannedNode(checked, {})
        case str():
            given: Mapping[object, object] = {depends_on: otherwise}
        case Mapping():
            given = depends_on
        case Iterable():
            given = {checked_node_name(upstream): otherwise for upstream in depends_on}
        case _:
            raise UsageError(
                f"node {checked!r}: depends_on={depends_on!r:.60} must be a node's name, a list of names, or a "
                'dict like {"name": "run"}'
            )
    upstreams = {
        checked_node_name(upstream): _on_failure(f"node {checked!r}: depends_on[{upstream!r:.60}]", wanted)
        for upstream, wanted in given.items()
    }
    return PlannedNode(checked, upstreams)


def checked_node_name(name: object) -> str:
    """Return a node's name.

    Raises: UsageError unless it is text of 1 to 128 characters that can be stored.
    """
    if not is_name(name, MAX_NAME):
        raise UsageError(
            f"a node's name {str(name)[:60]!r} must be text of 1 to {MAX_NAME} characters without NUL or lone "
            "surrogates"
        )
    return name


def check_node_rule(path: str, rule: UniqueRule | None) -> None:
    """Raise InvalidTask where a unique task's rule would change a task that is pending already."""
    if rule is not None and rule.mode not in KEPT:
        raise InvalidTask(
            f"{path}: on_duplicate={rule.mode.value!r} changes a task that is pending already, and a node stays as it "
            'was added: use "existing" or "raise", or pass task.using(unique=False)'
        )


def checked_unique_text(unique: object) -> str | None:
    """Return the text under which at most one workflow is not complete, or None.

    Raises: UsageError unless it is None or text.
    """
    if unique is not None and (not isinstance(unique, str) or not unique):
        raise UsageError(f"unique={unique!r:.60} must be text that names the work, or None")
    return unique


def _on_failure(where: str, wanted: object) -> OnFailure:
    try:
        return OnFailure(wanted)  # type: ignore[arg-type]
    except ValueError:
        raise UsageError(f'{where}={wanted!r:.60} must be "discard" or "run"') from None
