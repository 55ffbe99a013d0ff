"""The text in which a row keeps the keys of its rate limits.

It pairs the digest of a limit's name with that of a key.
"""

import hashlib
from collections.abc import Mapping

NAME_DIGITS, KEY_DIGITS = 12, 16


def key_digest(text: str) -> str:
    """Return what stands for a key, of fixed length."""
    return _digest(text, KEY_DIGITS)


def limit_keys(digests: Mapping[str, str]) -> str:
    """Return the stored text of the keys of these limits, given by name."""
    return ",".join(sorted(f"{_digest(name, NAME_DIGITS)}:{digest}" for name, digest in digests.items()))


def key_of(stored: str, name: str) -> str:
    """Return the key under which a stored task counts for a limit; "" is its empty one."""
    return dict(pair.split(":") for pair in stored.split(",") if pair).get(_digest(name, NAME_DIGITS), "")


def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
