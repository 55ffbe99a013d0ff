"""What people do to stored tasks: retry, discard, cancel, run now; and pausing queues.

The sync functions work on Django's connection and in the transaction that is open there, the ones with an `a` in front
where `aenqueue` would. Ids may be text or UUID; many are given as ids, results, or a queryset of OxpullTask. `backend`
is an alias of TASKS, and tasks of another one are left alone. Nobody is told by a signal. What runs while its queue is
paused runs on; where QUEUES names no queue, any name can be paused.
"""

from compat_sync.actions.awaited import (
    acancel,
    acancel_many,
    adiscard,
    adiscard_many,
    apause,
    aresume,
    aretry,
    aretry_many,
    arun_now,
    arun_now_many,
)
from compat_sync.actions.blocking import (
    cancel,
    cancel_many,
    discard,
    discard_many,
    pause,
    resume,
    retry,
    retry_many,
    run_now,
    run_now_many,
)

__all__ = [
    "acancel",
    "acancel_many",
    "adiscard",
    "adiscard_many",
    "apause",
    "aresume",
    "aretry",
    "aretry_many",
    "arun_now",
    "arun_now_many",
    "cancel",
    "cancel_many",
    "discard",
    "discard_many",
    "pause",
    "resume",
    "retry",
    "retry_many",
    "run_now",
    "run_now_many",
]
