"""The task queue behind each backend alias, one for the whole process."""

from threading import Lock

from compat_sync.native import NativeDatabase
from compat_sync.options import BackendOptions
from oxpull_async.app.oxpull import Oxpull

__all__ = ["oxpull_of"]

_lock = Lock()
_known: dict[tuple[str, str], tuple[BackendOptions, Oxpull]] = {}


def oxpull_of(options: BackendOptions, database: str) -> Oxpull:
    """Return the Oxpull of a backend's options over the native driver of a database alias.

    Equal options get the same one, in every thread; changed settings get a new one.
    """
    place = options.settings.alias, database
    with _lock:
        found = _known.get(place)
        if found is None or found[0] != options:
            native = NativeDatabase(
                database, pool_size=options.pool_size, pooler=options.pooler, listen_url=options.listen_url
            )
            found = _known[place] = options, Oxpull.over(native, options.settings)
        return found[1]
