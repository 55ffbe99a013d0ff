"""Unique enqueues while others write, in every setting: the outcome, and that nobody ever holds a key twice."""

import pytest

from tests.races.callers import execute
from tests.races.expected import expected
from tests.races.interleavings import INTERLEAVINGS
from tests.races.matrix import Matrix
from tests.races.stage import KEY, OtherWaitsError, Stage

LIVE = f"SELECT id FROM oxpull_task WHERE unique_key = '{KEY}' AND status IN ('READY', 'RUNNING')"


@pytest.mark.asyncio
@pytest.mark.parametrize("name", INTERLEAVINGS)
async def test_every_interleaving_comes_to_what_the_page_says(
    stage: Stage, name: str, kind: str, matrix: Matrix
) -> None:
    try:
        outcome = await INTERLEAVINGS[name](stage)
    except OtherWaitsError:
        outcome = "others wait"
    await stage.here.end(commit=True)
    matrix.note(name, stage.setting.name, kind, outcome)
    assert outcome == expected(name, stage.setting.name)
    assert len(await execute(stage.watcher, LIVE)) <= 1
