"""Random graphs of tasks, what must become of each node, and the check that it did."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from oxpull_async.domain.record import TaskRecord, TaskStatus

MOST_UPSTREAMS = 4
FAILING_SHARE, ANYWAY_SHARE, ROOT_SHARE = 0.15, 0.3, 0.25
BAD = (TaskStatus.FAILED, TaskStatus.LOST)


@dataclass(frozen=True, slots=True)
class Step:
    """A node: whether its task fails, and its upstreams with what becomes of it if they do."""

    name: str
    fails: bool
    upstreams: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fate:
    """What must become of a node: whether it runs, and what it returns, None if it fails."""

    runs: bool
    value: int | None

    @property
    def succeeds(self) -> bool:
        """Whether it ends SUCCESSFUL."""
        return self.value is not None


def random_dag(dice: random.Random, most: int) -> list[Step]:
    """Draw a graph; each node comes after those that it depends on."""
    steps: list[Step] = []
    for number in range(dice.randint(1, most)):
        is_root = not steps or dice.random() < ROOT_SHARE
        chosen = [] if is_root else dice.sample(steps, dice.randint(1, min(MOST_UPSTREAMS, len(steps))))
        upstreams = {step.name: "run" if dice.random() < ANYWAY_SHARE else "discard" for step in chosen}
        steps.append(Step(f"n{number}", dice.random() < FAILING_SHARE, upstreams))
    return steps


def fates(dag: Sequence[Step]) -> dict[str, Fate]:
    """Say what must become of each node.

    A node runs unless one that it depends on does not succeed and is not declared to let it run anyway. It returns one
    more than what its successful upstreams returned together.
    """
    found: dict[str, Fate] = {}
    for step in dag:
        upstreams = {name: found[name] for name in step.upstreams}
        runs = all(fate.succeeds or step.upstreams[name] == "run" for name, fate in upstreams.items())
        value = 1 + sum(fate.value for fate in upstreams.values() if fate.value is not None)
        found[step.name] = Fate(runs, value if runs and not step.fails else None)
    return found


def check_dag(dag: Sequence[Step], rows: Mapping[str, TaskRecord]) -> None:
    """Fail where a node did not become what it must, or ran before what it depends on had ended."""
    assert rows.keys() == {step.name for step in dag}, sorted(rows.keys() ^ {step.name for step in dag})
    wrong = [found for step, fate in zip(dag, fates(dag).values(), strict=True) for found in _wrong(step, fate, rows)]
    assert not wrong, "\n".join(wrong)


def _wrong(step: Step, fate: Fate, rows: Mapping[str, TaskRecord]) -> Iterator[str]:
    row = rows[step.name]
    wanted = (TaskStatus.SUCCESSFUL,) if fate.succeeds else BAD if fate.runs else (TaskStatus.DISCARDED,)
    if row.status not in wanted:
        yield f"{step} is {row.status}, and must be one of {wanted}"
    if fate.succeeds and row.return_value != fate.value:
        yield f"{step} returned {row.return_value}, and must return {fate.value}"
    if fate.runs != (row.attempts > 0):
        yield f"{step} has {row.attempts} attempts"
    if not fate.runs and not any(error.exception_class_path.endswith(".UpstreamFailed") for error in row.errors):
        yield f"{step} does not name the upstream that failed: {row.errors}"
    for name in step.upstreams:
        ended = rows[name].finished_at
        if row.started_at is not None and (ended is None or ended > row.started_at):
            yield f"{step} started at {row.started_at}, before {name} had ended at {ended}"
