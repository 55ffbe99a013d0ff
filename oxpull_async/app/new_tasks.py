"""From a call to the task that is to be stored.

Its arguments are checked, its id is made, its unique key and the keys of its lock and limits are computed.
"""

import logging
from typing import TYPE_CHECKING, Any, assert_never

import uuid_utils
from msgspec.structs import replace

from oxpull_async.app.task import Call
from oxpull_async.domain.errors import InvalidTask, UsageError
from oxpull_async.domain.key_functions import key_text
from oxpull_async.domain.keys import custom_key, lock_key, stored_key
from oxpull_async.domain.record import NewTask
from oxpull_async.domain.running_lock import RunningLock, lock_place
from oxpull_async.domain.task import TaskOptions, checked_queue
from oxpull_async.domain.unique import OnDuplicate, UniqueRule
from oxpull_async.domain.values import JsonValue, encode_normalised, normalise_call
from oxpull_async.domain.workflow_plan import check_node_rule
from oxpull_async.store.batches import Membership
from oxpull_async.store.nodes import Placement

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull

logger = logging.getLogger("oxpull_async.enqueue")

type Group = Membership | Placement
"""What the tasks of an enqueue join."""

type _Arguments = tuple[list[JsonValue], dict[str, JsonValue]]


class NewTasks:
    """Makes the tasks of one Oxpull's calls; writes nothing."""

    def __init__(self, ox: "Oxpull") -> None:
        self._ox = ox
        self._whole: set[tuple[str, str]] = set()
        self._checked: TaskOptions | None = None

    def numbered(self, position: int, call: Call[Any], group: Group | None = None) -> NewTask:
        """Return the task of a bulk call's part; an error names the part."""
        if not isinstance(call, Call):
            raise InvalidTask(f"call {position}: {call!r:.80} is no call: pass task.call(…)")
        try:
            return self.of(call, group)
        except UsageError as refused:
            raise type(refused)(f"call {position} ({call.task.path}): {refused}") from refused.__cause__

    def of(self, call: Call[Any], group: Group | None = None) -> NewTask:
        """Return the task of a call, made in a batch or workflow, or as a callback of a batch.

        Raises: InvalidArguments or InvalidTask when the call cannot be stored, or a key of it cannot be had.
        """
        task, settings = call.task, self._ox.settings
        if task.ox is not self._ox:
            raise InvalidTask(f"{task.path} was declared on another Oxpull; enqueue it there")
        batch_id, workflow_id = _ids(group) if group is not None else (None, None)
        if task.body is not None and task.body.takes_batch and batch_id is None:
            raise InvalidTask(f"{task.path} takes its batch, so it runs in one only: add it, or make it a callback")
        if workflow_id is not None:
            check_node_rule(task.path, task.options.unique)
        encode = normalise_call if task.body is None else task.body.codec.encode
        args, kwargs = encode(call.args, call.kwargs)
        options, rule, lock = task.options, task.options.unique, task.options.running_lock
        if options is not self._checked:
            checked_queue(options.queue_name, settings.queues)
            self._checked = options
        limit = settings.max_payload_bytes
        # By position, since a struct takes keywords five times as slowly.
        plain = NewTask(
            str(uuid_utils.uuid7()), settings.alias, task.path, options.queue_name, options.priority,
            encode_normalised(args, path="args", max_bytes=limit),
            encode_normalised(kwargs, path="kwargs", max_bytes=limit) if kwargs else "{}",
            options.run_after, options.max_attempts, options.timeout,
        )  # fmt: skip
        if rule is None and lock is None and group is None and not settings.rate_limits.rules:
            return plain
        return replace(
            plain,
            delay=None if rule is None else rule.wait,
            unique_key=None if rule is None else self._key(rule, call, (args, kwargs)),
            reruns=rule is not None and rule.mode is OnDuplicate.RERUN,
            lock_key=None if lock is None else self._lock_key(lock, call, (args, kwargs)),
            lock_limit=None if lock is None else lock.limit,
            lock_conflict=None if lock is None else lock.on_conflict,
            limit_keys=settings.rate_limits.keys_of(task.path, options.queue_name, call.args, call.kwargs),
            batch_id=batch_id,
            workflow_id=workflow_id,
        )

    def _key(self, rule: UniqueRule, call: Call[Any], stored: _Arguments) -> str:
        task = call.task
        where = self._ox.settings.alias, task.path, task.options.queue_name
        if rule.key is None:
            return stored_key(*where, *stored)
        text = key_text(rule.key, call.args, call.kwargs, task.path)
        if not text:
            self._warn_once(task.path, "the unique key of %s is empty text: all its calls are one to it")
        return custom_key(*where, text)

    def _lock_key(self, lock: RunningLock, call: Call[Any], stored: _Arguments) -> str:
        path, alias = call.task.path, self._ox.settings.alias
        if lock.key is None:
            return lock_key(alias, path, [*stored]) if lock.name is None else lock_key(alias, lock.name, "")
        text = key_text(lock.key, call.args, call.kwargs, lock_place(path))
        if not text:
            self._warn_once(path, "the running lock's key of %s is empty text: all its calls share one lock")
        return lock_key(alias, lock.name or path, text)

    def _warn_once(self, path: str, text: str) -> None:
        if (path, text) not in self._whole:
            self._whole.add((path, text))
            logger.warning(text, path)


def _ids(group: Group | None) -> tuple[str | None, str | None]:
    """Return the batch and the workflow that a task joins."""
    match group:
        case Membership(batch_id):
            return batch_id, None
        case Placement(workflow_id):
            return None, workflow_id
        case None:
            return None, None
        case _ as never:
            assert_never(never)
