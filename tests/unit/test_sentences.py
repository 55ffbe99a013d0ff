"""Events as sentences."""

from oxpull_async.domain.events import TasksReleased, WorkerStopped
from oxpull_async.domain.sentences import sentence


def test_one_is_one_and_more_are_many() -> None:
    assert sentence(TasksReleased(1, "the worker stops")) == "handed back 1 task: the worker stops"
    assert sentence(TasksReleased(2, "the worker stops")) == "handed back 2 tasks: the worker stops"
    assert sentence(WorkerStopped("w", 1, 1)) == "worker w stopped: 1 attempt ended, 1 task is left for later"
    assert sentence(WorkerStopped("w", 0, 2)) == "worker w stopped: 0 attempts ended, 2 tasks are left for later"
