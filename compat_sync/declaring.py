"""What every backend of ours does with its entry of TASKS and with tasks' declarations."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from compat_sync.django_types import AnyTask
from compat_sync.exceptions import translated
from compat_sync.options import BackendOptions, mended, read_options
from compat_sync.tasks import PolicyTask, check_function, core_task
from oxpull_async.app.oxpull import Oxpull

if TYPE_CHECKING:
    from django.tasks.backends.base import BaseTaskBackend as _Base
else:
    _Base = object

__all__ = ["WithPolicy"]


class WithPolicy(_Base):
    """A backend whose tasks take our options.

    An entry of TASKS that is wrong is reported by `check` and by an enqueue, not by an import.
    """

    task_class = PolicyTask

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        super().__init__(alias, mended(params))
        self._params = params

    @cached_property
    def setup(self) -> BackendOptions:
        """The checked OPTIONS; raises ImproperlyConfigured naming all that is wrong with them."""
        return read_options(self.alias, self._params)

    @property
    def ox(self) -> Oxpull:
        """What tasks are declared on."""
        raise NotImplementedError

    def validate_task(self, task: AnyTask) -> None:
        """Raise InvalidTask where Django's rules or this queue's refuse a task's declaration."""
        super().validate_task(task)
        check_function(task.func)
        try:
            setup = self.setup
        except ImproperlyConfigured:
            return  # `manage.py check` says so; an enqueue raises it
        with translated():
            core_task(self.ox, task, setup)
