"""Names for Django's task classes, which are generic to a type checker only."""

from typing import Any

from django.tasks import Task, TaskResult

__all__ = ["AnyResult", "AnyTask"]

type AnyTask = Task[..., Any]
type AnyResult = TaskResult[Any, Any]
