"""Oxpull: settings, database and tasks of one queue, put together."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self, Unpack, overload

from oxpull_async.app.batches import Batches
from oxpull_async.app.declarations import Declarations
from oxpull_async.app.enqueuer import Enqueuer, return_decoder
from oxpull_async.app.open_database import open_database
from oxpull_async.app.operations import Operations, checked_id
from oxpull_async.app.result import TaskResult
from oxpull_async.app.schedules import Scheduling, settings_schedule
from oxpull_async.app.task import Call, Task
from oxpull_async.app.transactions import Neighbours, Transaction, joined_transaction, own_transaction
from oxpull_async.app.wakeups import Wakeups
from oxpull_async.app.workflows import Workflows
from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import InvalidTask, TaskResultDoesNotExist
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.settings import Settings, SettingsKeywords
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store import results, schema


class Oxpull(Declarations, Scheduling, Batches, Workflows, Operations):
    """A task queue in your database.

    `url` is postgresql://…, mysql://… or sqlite:///…, by default OXPULL_DATABASE_URL. Keywords:
    `queues` (names that are allowed; none given: any), `max_attempts`, `backoff`, `timeout` (defaults of its tasks),
    `max_payload_bytes`, `lease_seconds`, `pool_size`, `pooler` ("transaction" behind pgbouncer), `listen_url`, `alias`,
    `unique_tasks` (tasks or paths that are unique unless declared otherwise), `unique_ttl` (how long a unique key is
    held at most), `rate_limits` (names to RateLimit(…) or dicts), `schedules` (names to dicts: `task` and its ticks).

    Raises: UsageError or InvalidTask for a value out of range, TypeError for an unknown keyword.
    """

    wakeups: Wakeups
    enqueuer: Enqueuer
    neighbours: Neighbours

    def __init__(self, url: str | None = None, **settings: Unpack[SettingsKeywords]) -> None:
        checked = Settings.of(settings)
        _assemble(self, open_database(url, settings), checked)

    @classmethod
    def over(cls, database: Database, settings: Settings) -> Self:
        """Return the task queue that a database holds, with settings that are checked already."""
        ox = cls.__new__(cls)
        _assemble(ox, database, settings)
        return ox

    def __repr__(self) -> str:
        return f"<Oxpull {self.database.label}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def lifespan(self, _app: object = None) -> AsyncIterator[None]:
        """Open and close with an ASGI application: `Starlette(lifespan=ox.lifespan)`."""
        async with self:
            yield

    async def close(self) -> None:
        """Write what callers gave, announce it, and close the pool of the running event loop."""
        await self.enqueuer.flush()
        await self.wakeups.flush()
        await self.database.close()

    async def migrate(self) -> list[str]:
        """Bring the database to this version's schema, safely; returns what was applied."""
        uuid_type = await self.database.uuid_type()
        applied = await repeat(self.database, lambda conn: schema.migrate(conn, uuid_type))
        return [migration.name for migration in applied]

    async def check_schema(self) -> None:
        """Raise NotMigrated or SchemaTooNew unless the database has this version's schema."""
        uuid_type = await self.database.uuid_type()
        schema.require_current(await repeat(self.database, lambda conn: schema.read_schema(conn, uuid_type)))

    @overload
    async def enqueue[**P, R](self, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs) -> TaskResult[R]: ...
    @overload
    async def enqueue(self, task: str, /, *args: Any, **kwargs: Any) -> TaskResult[Any]: ...
    async def enqueue(self, task: Task[..., Any] | str, /, *args: Any, **kwargs: Any) -> TaskResult[Any]:
        """Store a call of a task, given itself or by its path; the other arguments are its own."""
        if isinstance(task, str):
            task = self.tasks.get(task) or self.remote(task)
        elif not isinstance(task, Task):
            raise InvalidTask(f"{task!r:.80} is no task: pass one made by @ox.task or ox.remote(…), or a dotted path")
        return await self.enqueuer.enqueue(Call(task, args, kwargs))

    async def enqueue_many(self, calls: Iterable[Call[Any]]) -> list[TaskResult[Any]]:
        """Store calls, also of different tasks, all or none; results in their order.

        Raises: InvalidArguments or InvalidTask naming the first bad call by its position, AlreadyEnqueued with the
        `position` of the first call that a unique key refuses; nothing is written.
        """
        return await self.enqueuer.enqueue_many(list(calls))

    async def get_result(self, id_: str) -> TaskResult[Any]:
        """Return the handle of a stored task, or raise TaskResultDoesNotExist."""
        return self.result_of(await self.read(id_))

    async def list_results(self, wanted: results.TaskFilter) -> list[TaskResult[Any]]:
        """Return the newest tasks that match, newest first."""
        records = await self.operate(lambda conn: results.list_tasks(conn, self.settings.alias, wanted))
        return [self.result_of(record) for record in records]

    async def read(self, id_: str) -> TaskRecord:
        """Return the stored record of a task; raises TaskResultDoesNotExist."""
        checked = checked_id(id_)
        record = await self.operate(lambda conn: results.get_task(conn, checked))
        if record is None or record.backend_alias != self.settings.alias:
            raise TaskResultDoesNotExist(f"no task has the id {checked}")
        return record

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Open a transaction that enqueues in the block join; nested, a savepoint.

        It belongs to the asyncio task that enters it; an enqueue in a child task meanwhile raises TransactionElsewhere.
        """
        return own_transaction(self)

    def join(self, connection: object) -> AbstractAsyncContextManager[Transaction]:
        """Let enqueues in the block join your connection's transaction; its end stays yours.

        Takes an asyncpg, aiomysql or aiosqlite connection, or an SQLAlchemy AsyncConnection or AsyncSession.

        Raises: TransactionNotOpen on an autocommitting connection, WrongDatabase on one to another database.
        """
        return joined_transaction(self, connection)

    def on_wake(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback` with the queue's name at every enqueue here; returns what ends that."""
        return self.wakeups.subscribe(callback)

    async def announce(self, queue_name: str) -> None:
        """Wake the workers here and elsewhere; "" says that any queue may have changed."""
        self.wakeups.announce(queue_name)

    def result_of(self, record: TaskRecord) -> TaskResult[Any]:
        """Return the handle for a record that was read already."""
        task = self.tasks.get(record.task_path)
        return TaskResult(self, record, decode=return_decoder(None if task is None else task.body))


def _assemble(ox: Oxpull, database: Database, settings: Settings) -> None:
    """Put the parts of an Oxpull together."""
    ox.settings = settings
    ox.database = database
    ox.wakeups = Wakeups(database)
    ox.enqueuer = Enqueuer(ox)
    ox.tasks = {}
    ox.schedules = {name: settings_schedule(entry) for name, entry in settings.schedules.items()}
    ox.neighbours = Neighbours(database)
