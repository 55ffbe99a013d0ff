"""What this package raises: subclasses of oxpull-async's errors and of Django's.

Catch them by either name: those about the database are errors of `django.db` too. Nothing here is raised by
`oxpull_async` itself.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from django import db
from django.core.exceptions import ObjectDoesNotExist, SynchronousOnlyOperation
from django.tasks import exceptions as django

from compat_sync.placement import migrate_command
from oxpull_async.domain import errors as core


class OxpullError(core.OxpullError, django.TaskException):
    """Something went wrong in the task queue."""


class UsageError(core.UsageError, OxpullError):
    """The call cannot be carried out as it was written."""


class InvalidTask(core.InvalidTask, UsageError, django.InvalidTask):
    """The task's declaration or options are not valid."""


class InvalidArguments(core.InvalidArguments, UsageError, TypeError):
    """An argument is not JSON that every supported database can store.

    It is a TypeError too, as with Django's own backends.
    """


class InvalidPayload(core.InvalidPayload, InvalidArguments):
    """A return value or progress report is not JSON that every supported database can store."""


class TransactionElsewhere(core.TransactionElsewhere, UsageError):
    """The open transaction belongs to another asyncio task."""


class TransactionNotOpen(core.TransactionNotOpen, UsageError):
    """The joined connection commits each statement by itself."""


class ScheduleDoesNotExist(core.ScheduleDoesNotExist, UsageError):
    """No stored schedule has this name."""


class ScheduleExists(core.ScheduleExists, UsageError):
    """Another schedule has this name."""


class WrongDatabase(core.WrongDatabase, UsageError):
    """The joined connection belongs to another database."""


class TaskResultDoesNotExist(core.TaskResultDoesNotExist, UsageError, django.TaskResultDoesNotExist):
    """No task has this id."""


class Refused(core.Refused, OxpullError):
    """A rule said no, and nothing was written."""


class AlreadyEnqueued(core.AlreadyEnqueued, Refused):
    """A task with this unique key is pending.

    `existing` is its result, `position` the call's place in a bulk call.
    """


class BatchDoesNotExist(core.BatchDoesNotExist, UsageError, ObjectDoesNotExist):
    """No batch has this id."""


class BatchSealed(core.BatchSealed, Refused):
    """The batch is sealed and takes no more members."""


class BatchMemberExists(core.BatchMemberExists, Refused):
    """The task is a member of this batch already."""


class WorkflowDoesNotExist(core.WorkflowDoesNotExist, UsageError, ObjectDoesNotExist):
    """No workflow has this id."""


class UnknownWorkflowNode(core.UnknownWorkflowNode, UsageError):
    """No node of the workflow has this name."""


class WorkflowSealed(core.WorkflowSealed, Refused):
    """The workflow is sealed and takes no more nodes."""


class WorkflowNodeExists(core.WorkflowNodeExists, Refused):
    """A node of the workflow has this name already."""


class UpstreamFailed(core.UpstreamFailed, OxpullError):
    """A node that had to succeed first did not, so the task was discarded."""


class DatabaseTrouble(core.DatabaseTrouble, OxpullError, db.DatabaseError):
    """The database could not do what was asked."""


class NotMigrated(core.NotMigrated, DatabaseTrouble, db.ProgrammingError):
    """The database has no tables of compat_sync, or older ones: run `manage.py migrate`."""


class SchemaTooNew(core.SchemaTooNew, NotMigrated):
    """The database was migrated by a newer version: upgrade this process."""


class PoolExhausted(core.PoolExhausted, DatabaseTrouble, db.OperationalError):
    """No connection became free in time."""


class DatabaseUnavailable(core.DatabaseUnavailable, DatabaseTrouble, db.OperationalError):
    """The database cannot be reached."""


class ConnectionLost(core.ConnectionLost, DatabaseUnavailable):
    """The connection broke while a command was under way, so its outcome is unknown."""


class DataRefused(core.DataRefused, DatabaseTrouble, db.DataError):
    """The database refused a value."""


class Contended(core.Contended, DatabaseTrouble, db.OperationalError):
    """The database gave up on a lock.

    `transaction_survived` says whether the caller's transaction lives.
    """


class LockTimeout(core.LockTimeout, Contended):
    """Another transaction held a lock for longer than the database waits."""


class Conflict(core.Conflict, Contended):
    """The database ended this transaction to break a deadlock or conflict: repeat it."""


class UniqueEnqueueRace(core.UniqueEnqueueRace, Contended):
    """Whether the unique key is held could not be known; nothing was written."""


class TaskTimeout(core.TaskTimeout, OxpullError):
    """The attempt ran longer than its timeout."""


class TaskAbandoned(core.TaskAbandoned, OxpullError):
    """The worker of the last attempt fell silent; nothing is known about what the attempt did."""


class TaskCancelled(core.TaskCancelled, OxpullError):
    """The task was cancelled while it ran."""


class RunningLockTaken(core.RunningLockTaken, OxpullError):
    """The task's running lock is taken, and it is declared not to wait."""


class WorkerRecycled(core.WorkerRecycled, OxpullError):
    """The worker ended because a function did not stop after its timeout."""


_OURS: dict[type[core.OxpullError], type[OxpullError]] = {
    kind.__mro__[1]: kind for kind in vars().copy().values() if isinstance(kind, type) and issubclass(kind, OxpullError)
}


@contextmanager
def translated() -> Generator[None]:
    """Let what the core raises in the block leave it as this module's class of that name."""
    try:
        yield
    except core.OxpullError as error:
        if isinstance(error, OxpullError | SynchronousOnlyOperation):
            raise
        raise _ours(error).with_traceback(error.__traceback__) from error.__cause__


def _ours(error: core.OxpullError) -> OxpullError:
    """Return the same error in our class; what has no class here is an OxpullError."""
    kind = next((_OURS[base] for base in type(error).__mro__ if base in _OURS), OxpullError)
    ours: Any = kind.__new__(kind, *error.args)
    ours.args = tuple(in_django(part) if isinstance(part, str) else part for part in error.args)
    vars(ours).update(vars(error))
    translated_error: OxpullError = ours
    return translated_error


def in_django(text: str) -> str:
    """Name commands and settings as a Django project has them, in a text of the core."""
    if _MIGRATE in text:
        text = text.replace(_MIGRATE, migrate_command())
    for name, ours in _NAMES.items():
        text = text.replace(name, ours)
    return text


_MIGRATE = "`oxpull migrate`"
_NAMES = {
    "raise max_payload_bytes": 'raise OPTIONS["MAX_PAYLOAD_BYTES"]',
    "in the URL": "in DATABASES",
}
