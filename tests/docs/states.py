"""Renders docs/states.md from the transition table: `python -m tests.docs.states` writes it."""

from pathlib import Path

from oxpull_async.domain.transitions import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "states.md"

HEAD = """# The life of a task

Generated from `oxpull_async/domain/transitions.py`; `python -m tests.docs.states` writes it anew, a test holds the two
together, and the conformance suite walks every (status, move) pair on every connection: a pair that is not in the
table changes nothing, and the answer says so.

```mermaid
stateDiagram-v2
    [*] --> READY: enqueue
    [*] --> WAITING: enqueue of a follow-up, or of a node with open edges
"""


def render() -> str:
    """Return the page."""
    arrows = dict.fromkeys((row.origin, row.target, row.move.value.split(":")[0].split(",")[0]) for row in TABLE)
    lines = [f"    {origin} --> {target}: {move}" for origin, target, move in arrows]
    rows = [f"| {row.origin} | {row.move} | {row.target} | {row.effect} |" for row in TABLE]
    table = ["| from | move | to | effect |", "| --- | --- | --- | --- |", *rows]
    return HEAD + "\n".join(lines) + "\n```\n\n" + "\n".join(table) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
