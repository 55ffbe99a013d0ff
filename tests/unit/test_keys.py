"""Unique keys: the vectors that every implementation shares."""

import json
from pathlib import Path
from typing import Any

import pytest

from oxpull_async.domain.errors import InvalidArguments
from oxpull_async.domain.keys import unique_key

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "unique_keys.json").read_text()
)
PYTHON_ARGS = {
    "a tuple equals a list": ((1, 2),),
    "an int dict key equals its text form": ({1: "a"},),
    "bytes equal their UTF-8 text": (b"abc",),
}


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["note"])
def test_a_call_hashes_to_its_vector(vector: dict[str, Any]) -> None:
    key = unique_key(
        vector["backend_alias"], vector["task_path"], vector["queue_name"], vector["args"], vector["kwargs"]
    )
    assert key == vector["key"]


@pytest.mark.parametrize("equality", VECTORS["equalities"], ids=lambda equality: equality["note"])
def test_values_that_are_stored_alike_hash_alike(equality: dict[str, Any]) -> None:
    for args in (PYTHON_ARGS[equality["note"]], equality["json_args"]):
        assert unique_key("default", "shop.tasks.send_invoice", "default", args, {}) == equality["same_as"]


def test_the_order_of_keywords_does_not_matter() -> None:
    assert unique_key("a", "b", "c", [], {"x": 1, "y": 2}) == unique_key("a", "b", "c", [], {"y": 2, "x": 1})


def test_arguments_that_cannot_be_stored_have_no_key() -> None:
    with pytest.raises(InvalidArguments, match=r"^args\[0\]"):
        unique_key("a", "b", "c", [object()], {})
