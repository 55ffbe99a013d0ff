"""The unique keys that this process has lately enqueued: a hint, never a truth."""

MOST = 2048
"""How many keys make a generation; two are remembered, about half a megabyte."""


class MetKeys:
    """Remembers keys whose lock row probably exists.

    An enqueue of such a key looks at the lock row before it tries to take the key.
    """

    __slots__ = ("_most", "_old", "_young")

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._young: set[str] = set()
        self._old: set[str] = set()

    def meet(self, key: str) -> bool:
        """Return whether a key was met lately, and remember it from now on."""
        if key in self._young:
            return True
        was_met = key in self._old
        self._young.add(key)
        if len(self._young) >= self._most:
            self._old, self._young = self._young, set()
        return was_met
