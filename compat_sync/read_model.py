"""What every model of compat_sync is: a row that is read only."""

from typing import Any, NoReturn

from django.db import models
from django.db.models.signals import pre_save

from compat_sync.managers import refuse_fixture, refuse_write

__all__ = ["ReadModel"]


class ReadModel(models.Model):
    """A row that only the core writes."""

    class Meta:
        """No table of its own."""

        abstract = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        pre_save.connect(refuse_fixture, sender=cls)  # `loaddata` calls neither save() nor an overridden save_base()

    def save(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse: raise ReadOnlyModel."""
        refuse_write(type(self), "save")

    def delete(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse: raise ReadOnlyModel."""
        refuse_write(type(self), "delete")
