"""Derive the key that makes two calls of a task the same call."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from oxpull_async.domain.values import canonical_json, normalise_call

if TYPE_CHECKING:
    from oxpull_async.domain.values import JsonValue


def unique_key(
    backend_alias: str, task_path: str, queue_name: str, args: Sequence[object], kwargs: Mapping[str, object]
) -> str:
    """Hash a call as 64 hexadecimal characters.

    Arguments are normalised first, as they are before they are stored: a tuple equals a list, the dict key 1 equals
    "1", and the order of dict keys does not matter; 1 and 1.0 differ.

    Raises:
        InvalidArguments: the arguments cannot be stored.
    """
    return stored_key(backend_alias, task_path, queue_name, *normalise_call(args, kwargs))


def stored_key(
    backend_alias: str, task_path: str, queue_name: str, args: "list[JsonValue]", kwargs: "dict[str, JsonValue]"
) -> str:
    """Hash a call whose arguments are as they are stored."""
    return _hash([backend_alias, task_path, queue_name, args, kwargs])


def custom_key(backend_alias: str, task_path: str, queue_name: str, text: str) -> str:
    """Hash what a key function returned; it never meets a key that is made of arguments."""
    return _hash([backend_alias, task_path, queue_name, text])


def lock_key(backend_alias: str, name: str, of: "JsonValue") -> str:
    """Hash what a running lock is about.

    That is its name or the task's path, and the arguments or a function's text of them; empty text stands for
    everything under the name.
    """
    return _hash([backend_alias, "lock", name, of])


def workflow_key(backend_alias: str, text: str) -> str:
    """Hash the text under which at most one workflow is not complete."""
    return _hash([backend_alias, "workflow", text])


def _hash(parts: "list[JsonValue]") -> str:
    return hashlib.sha256(canonical_json(parts).encode("ascii")).hexdigest()
