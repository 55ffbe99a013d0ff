"""Derive the key that makes two calls of a task the same call."""

import hashlib
from collections.abc import Mapping, Sequence

from oxpull_async.domain.values import canonical_json, normalise_call


def unique_key(
    backend_alias: str, task_path: str, queue_name: str, args: Sequence[object], kwargs: Mapping[str, object]
) -> str:
    """Hash a call as 64 hexadecimal characters.

    Arguments are normalised first, as they are before they are stored: a tuple equals a list, the dict key 1 equals
    "1", and the order of dict keys does not matter; 1 and 1.0 differ.

    Raises:
        InvalidArguments: the arguments cannot be stored.
    """
    plain_args, plain_kwargs = normalise_call(args, kwargs)
    text = canonical_json([backend_alias, task_path, queue_name, plain_args, plain_kwargs])
    return hashlib.sha256(text.encode("ascii")).hexdigest()
