"""TASK_OPTIONS: keywords of `@task` for tasks whose decorator cannot take them."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.retry import checked_backoff
from oxpull_async.domain.running_lock import declared_lock
from oxpull_async.domain.settings import refuse_unknown
from oxpull_async.domain.task import checked_max_attempts, checked_task_path, checked_timeout
from oxpull_async.domain.unique import declared_rule

__all__ = ["TASK_KEYWORDS", "read_task_options"]

type TaskKeywords = Mapping[str, Any]

_CHECKS: Mapping[str, Callable[[Any], object]] = {
    "max_attempts": checked_max_attempts,
    "backoff": checked_backoff,
    "timeout": checked_timeout,
    "running_lock": declared_lock,
    "retry_on": lambda kinds: _exceptions("retry_on", kinds),
    "fail_on": lambda kinds: _exceptions("fail_on", kinds),
}
TASK_KEYWORDS = ("unique", *_CHECKS)
"""The keywords that a task may have there."""


def read_task_options(value: object, *, unique_ttl: float | None) -> tuple[Mapping[str, TaskKeywords], list[str]]:
    """Return the keywords of each faultless path as given, and a sentence for each fault."""
    if not isinstance(value, Mapping):
        return {}, [f"TASK_OPTIONS={value!r:.80} must be a dict of dotted path to keywords of @task"]
    right: dict[str, TaskKeywords] = {}
    wrong: list[str] = []
    for path, keywords in value.items():
        if faults := list(_faults(path, keywords, unique_ttl)):
            wrong += faults
        else:
            right[path] = MappingProxyType(dict(keywords))
    return MappingProxyType(right), wrong


def _faults(path: object, keywords: object, unique_ttl: float | None) -> Iterator[str]:
    where = f"TASK_OPTIONS[{path!r:.80}]"
    if not isinstance(path, str) or "." not in path:
        yield f"{where}: the key must be a task's dotted path, like 'shop.tasks.send_invoice'"
    elif not isinstance(keywords, Mapping):
        yield f"{where}={keywords!r:.80} must be a dict of keywords, of {', '.join(TASK_KEYWORDS)}"
    else:
        for name, given in keywords.items():
            try:
                checked_task_path(path)
                _check(where, name, given, unique_ttl)
            except UsageError as wrong:
                yield f"{where}: {wrong}"
            except TypeError as wrong:
                yield str(wrong)


def _check(where: str, name: object, given: object, unique_ttl: float | None) -> None:
    refuse_unknown(where, [str(name)], TASK_KEYWORDS)
    if name == "unique":
        declared_rule(given, default_ttl=unique_ttl)
    else:
        _CHECKS[str(name)](given)


def _exceptions(name: str, given: object) -> None:
    for kind in given if isinstance(given, tuple) else (given,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise UsageError(f"{name}={given!r:.80} must be an exception class or a tuple of them")
