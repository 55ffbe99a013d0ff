"""Every exception of the package, in four families.

An exception's docstring is its default message. "Nothing to do", "someone was faster" and "the lease is lost" are
answers, not exceptions, and so do not appear here.
"""


class OxpullError(Exception):
    """Something went wrong in oxpull-async."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))


class UsageError(OxpullError):
    """The call cannot be carried out as it was written."""


class InvalidTask(UsageError):
    """The task's declaration or options are not valid."""


class InvalidArguments(UsageError):
    """An argument is not JSON that every supported database can store."""


class InvalidPayload(InvalidArguments):
    """A return value or progress report is not JSON that every supported database can store."""


class TaskResultDoesNotExist(UsageError):
    """No task has this id."""


class ScheduleDoesNotExist(UsageError):
    """No stored schedule has this name."""


class ScheduleExists(UsageError):
    """Another schedule has this name."""


class WrongDatabase(UsageError):
    """The joined connection belongs to another database than this Oxpull."""


class TransactionNotOpen(UsageError):
    """The joined connection commits each statement by itself; open a transaction on it first."""


class TransactionElsewhere(UsageError):
    """The open transaction belongs to another asyncio task.

    Enqueue in that task, or after the block has ended.
    """


class Refused(OxpullError):
    """A rule said no, and nothing was written."""


class AlreadyEnqueued(Refused):
    """A task with this unique key is pending.

    `existing` is its result, `position` the call's place in a bulk call. Where an earlier call of the same bulk call
    has the key, `existing` is None.
    """

    def __init__(self, message: str, *, existing: object, position: int | None = None) -> None:
        super().__init__(message)
        self.existing = existing
        self.position = position


class BatchDoesNotExist(UsageError):
    """No batch has this id."""


class BatchSealed(Refused):
    """The batch is sealed and takes no more members."""


class BatchMemberExists(Refused):
    """The task is a member of this batch already."""


class WorkflowDoesNotExist(UsageError):
    """No workflow has this id."""


class UnknownWorkflowNode(UsageError):
    """No node of the workflow has this name.

    Nodes are named as upstreams after they have been added.
    """


class WorkflowSealed(Refused):
    """The workflow is sealed and takes no more nodes."""


class WorkflowNodeExists(Refused):
    """A node of the workflow has this name already."""


class UpstreamFailed(OxpullError):
    """A node that had to succeed first did not, so the task was discarded."""


class DatabaseTrouble(OxpullError):
    """The database could not do what was asked."""


class NotMigrated(DatabaseTrouble):
    """The database has no oxpull tables, or older ones: run `oxpull migrate`."""


class SchemaTooNew(NotMigrated):
    """The database was migrated by a newer version of oxpull-async: upgrade this process."""


class PoolExhausted(DatabaseTrouble):
    """No connection became free in time."""


class DatabaseUnavailable(DatabaseTrouble):
    """The database cannot be reached."""


class ConnectionLost(DatabaseUnavailable):
    """The connection broke while a command was under way, so its outcome is unknown."""


class DataRefused(DatabaseTrouble):
    """The database refused a value."""


class Contended(DatabaseTrouble):
    """The database gave up on a lock.

    Says in `transaction_survived` whether the caller's transaction still lives.
    """

    def __init__(self, message: str | None = None, *, transaction_survived: bool = False) -> None:
        super().__init__(message)
        self.transaction_survived = transaction_survived


class LockTimeout(Contended):
    """Another transaction held a lock for longer than the database waits."""


class Conflict(Contended):
    """The database ended this transaction to break a deadlock or conflict: repeat it."""


class UniqueEnqueueRace(Contended):
    """Whether the unique key is held could not be known; nothing was written."""


class TaskTimeout(OxpullError):
    """The attempt ran longer than its timeout."""


class TaskAbandoned(OxpullError):
    """The worker of the last attempt fell silent; nothing is known about what the attempt did."""


class RunningLockTaken(OxpullError):
    """The task's running lock is taken, and it is declared not to wait."""


class TaskCancelled(OxpullError):
    """The task was cancelled while it ran."""


class WorkerRecycled(OxpullError):
    """The worker ended because a function did not stop after its timeout.

    Its thread was left behind.
    """


class UnknownStatement(OxpullError):
    """No SQL statement has this name, or its values do not match its parameters."""
