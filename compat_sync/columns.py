"""What the ORM needs for SQL about our tables: JSON as the core stores it, and its clock."""

import json
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateTimeField, Expression, JSONField
from django.db.models.fields.json import JSONExact
from django.db.models.sql.compiler import SQLCompiler

from compat_sync.clock import offset
from compat_sync.connection import DjangoConnection
from oxpull_async.db.statements import FORMAT, load_statement
from oxpull_async.domain.values import normalise, to_json

__all__ = ["DatabaseNow", "SameJSON", "StoredJSON", "StoredJSONField"]


class StoredJSON(json.JSONEncoder):
    """Write JSON as the core writes it."""

    def encode(self, o: Any) -> str:
        """Return the stored text of a value; keys stay in the order they have."""
        return to_json(normalise(o, path="value"))


class StoredJSONField(JSONField):
    """JSON that the core wrote.

    `filter(args=[1, 2])` finds it also where the database keeps text. There the order of keys counts, so ask for
    `kwargs__a=1, kwargs__b=2` instead of `kwargs={"a": 1, "b": 2}`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"encoder": StoredJSON, **kwargs})

    def deconstruct(self) -> Any:
        """Describe the field for a migration, without the encoder that it always has."""
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, {key: value for key, value in kwargs.items() if key != "encoder"}


@StoredJSONField.register_lookup
class SameJSON(JSONExact):
    """Compare a stored column with a value, both in the form that the database gives to values."""

    def process_lhs(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, lhs: Any = None) -> Any:
        """Put around the column what Django puts around the value."""
        sql, params = super().process_lhs(compiler, connection, lhs)
        if not self.rhs_is_direct_value():
            return sql, params
        around_value, _ = self.process_rhs(compiler, connection)
        return around_value.replace("%s", sql, 1), params


class DatabaseNow(Expression):
    """The instant that the core's statements would take now.

    It is the database's clock, moved as far as the test kit has moved it.
    """

    output_field = DateTimeField()

    def as_sql(self, _compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """Return the core's expression of the time for the connection's dialect."""
        statement = load_statement(DjangoConnection(connection.alias).dialect.name, "now", FORMAT)
        return statement.sql, tuple(statement.bind({}, offset()))
