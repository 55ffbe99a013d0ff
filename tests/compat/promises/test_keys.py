"""What makes two calls of a task the same call."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.tasks import task_backends
from django.test import override_settings

from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import InvalidArguments
from compat_sync.models import OxpullUniqueKey
from compat_sync.tasks import PolicyTask
from compat_sync.unique import unique_key
from tests.compat.promises import shop
from tests.compat.promises.kit import counts
from tests.unit.test_keys import PYTHON_ARGS

BACKEND = "compat_sync.backend.OxpullBackend"
PAGE: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "unique_keys.json").read_text()
)
VECTORS = PAGE["vectors"]
ALIASES = {"default", *(vector["backend_alias"] for vector in VECTORS)}


@pytest.fixture
def many_aliases(own_site: str) -> Iterator[str]:
    """Configure a backend for every alias of the vectors, in one database."""
    with override_settings(TASKS={alias: {"BACKEND": BACKEND, "QUEUES": []} for alias in ALIASES}):
        yield own_site


def task_of(path: str, alias: str, queue_name: str) -> PolicyTask:
    """Make the task of a dotted path, wherever its code is."""
    module, _, name = path.rpartition(".")

    def function(*args: Any, **kwargs: Any) -> None:
        """Stand in for a function of another project."""

    function.__module__, function.__qualname__, function.__name__ = module, name, name
    return PolicyTask(func=function, backend=alias, queue_name=queue_name, priority=0, run_after=None, unique=True)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["note"])
def test_the_key_of_a_call_is_the_vector_s(vector: dict[str, Any]) -> None:
    parts = (vector[name] for name in ("backend_alias", "task_path", "queue_name", "args", "kwargs"))
    assert unique_key(*parts) == vector["key"]


def test_every_enqueue_stores_the_key_of_its_vector(many_aliases: str) -> None:
    for vector in VECTORS:
        task = task_of(vector["task_path"], vector["backend_alias"], vector["queue_name"])
        result = task.enqueue(*vector["args"], **vector["kwargs"])
        holder = OxpullUniqueKey.objects.get(pk=vector["key"]).holder_id
        assert (str(holder), vector["note"]) == (result.id, vector["note"])
    distinct = len({vector["key"] for vector in VECTORS})
    assert counts(many_aliases) == (distinct, distinct)


@pytest.mark.parametrize("equality", PAGE["equalities"], ids=lambda equality: equality["note"])
def test_what_is_stored_alike_is_one_call(own_site: str, equality: dict[str, Any]) -> None:
    first = shop.charge.enqueue(equality["json_args"])
    second = shop.charge.enqueue(PYTHON_ARGS[equality["note"]])
    assert (first.created, second.created, second.id) == (True, False, first.id)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (((1, 2), {}), ((1,), {"b": 2})),
        (((), {"a": 1, "b": 2}), ((1, 2), {})),
        (((1,), {}), ((1.0,), {})),
        (((1,), {}), (("1",), {})),
        (((1,), {}), ((True,), {})),
        (((None,), {}), ((), {})),
    ],
    ids=["a keyword", "keywords", "a float", "text", "a bool", "a default"],
)
def test_calls_are_told_apart_by_how_they_are_written(own_site: str, one: Any, other: Any) -> None:
    backend = ours()
    first, second = backend.enqueue(shop.charge, *one), backend.enqueue(shop.charge, *other)
    assert (first.created, second.created) == (True, True)
    assert counts(own_site) == (2, 2)


def test_the_order_of_keywords_and_of_dict_keys_does_not_matter(own_site: str) -> None:
    backend = ours()
    first = backend.enqueue(shop.charge, (), {"a": {"x": 1, "y": (2, 3)}, "b": 2})
    second = backend.enqueue(shop.charge, (), {"b": 2, "a": {"y": [2, 3], "x": 1}})
    assert (second.id, second.created) == (first.id, False)


def test_the_queue_is_in_the_key_and_priority_and_time_are_not(own_site: str, later: Any) -> None:
    first = shop.charge.enqueue(1)
    assert shop.charge.using(queue_name="mail").enqueue(1).created
    assert shop.charge.using(priority=5).enqueue(1).id == first.id
    assert shop.charge.using(run_after=later).enqueue(1).id == first.id
    assert counts(own_site) == (2, 2)


def test_each_backend_alias_has_keys_of_its_own(many_aliases: str) -> None:
    first, second = shop.charge.enqueue(1), shop.charge.using(backend="reports").enqueue(1)
    assert (first.created, second.created) == (True, True)


def test_each_task_has_keys_of_its_own(own_site: str) -> None:
    assert shop.charge.enqueue(1).id != shop.send_invoice.using(unique=True).enqueue(1).id
    assert counts(own_site) == (2, 2)


@pytest.mark.parametrize("wrong", [object(), float("inf"), {1: "a", "1": "b"}, "\ud800"])
def test_what_cannot_be_stored_has_no_key(own_site: str, wrong: object) -> None:
    with pytest.raises(InvalidArguments):
        shop.charge.enqueue(wrong)
    assert counts(own_site) == (0, 0)


def ours() -> OxpullBackend:
    found = task_backends["default"]
    assert isinstance(found, OxpullBackend)
    return found
