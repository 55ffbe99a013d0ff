"""Carry values of annotated types through JSON, with one small codec per type.

A codec is `special` if its annotation names a type that JSON does not have. Only special ones are ever used; inside
them the whole annotation is honoured (tuples come back as tuples, int keys as ints).
"""

import datetime as dt
import enum
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import NoneType

import msgspec

from oxpull_async.domain.errors import InvalidArguments
from oxpull_async.domain.values import normalise, path_text, show, to_json

_REASON_LENGTH = 300


class TypeCodec:
    """Pass a value through as it is: the codec of every annotation that JSON itself expresses."""

    special = False

    def encode(self, value: object, path: str) -> object:
        """Make the value one that `normalise` accepts."""
        del path
        return value

    def decode(self, value: object, path: str) -> object:
        """Make the annotated value of stored JSON."""
        del path
        return value

    def owns(self, value: object) -> bool:
        """Say whether a Python value is of the annotated type."""
        del value
        return True

    def fits(self, value: object) -> bool:
        """Say whether stored JSON has the exact form that `encode` gives."""
        del value
        return True


PLAIN = TypeCodec()


class PlainCodec(TypeCodec):
    """Text, numbers, booleans or None, told apart inside unions and as dict keys."""

    def __init__(self, kinds: tuple[type, ...]) -> None:
        self.kinds = kinds

    @typing.override
    def owns(self, value: object) -> bool:
        return isinstance(value, self.kinds) and not (isinstance(value, bool) and bool not in self.kinds)

    @typing.override
    def fits(self, value: object) -> bool:
        return type(value) in self.kinds


class ScalarCodec(TypeCodec):
    """A datetime, date, time, timedelta, Decimal or UUID as its standard text."""

    special = True

    def __init__(self, kind: type) -> None:
        self.kind = kind

    @typing.override
    def encode(self, value: object, path: str) -> object:
        if not isinstance(value, self.kind):
            return value
        with _refusing(value, path, self.kind):
            for form in _forms(value):
                text: object = msgspec.to_builtins(form)
                if _same(msgspec.convert(text, self.kind), value):
                    return text
        name = self.kind.__name__
        raise InvalidArguments(f"{path}: {show(value)} would not come back unchanged. Pass a plain {name}.")

    @typing.override
    def decode(self, value: object, path: str) -> object:
        with _refusing(value, path, self.kind):
            decoded: object = msgspec.convert(value, self.kind)
            return decoded

    @typing.override
    def owns(self, value: object) -> bool:
        if isinstance(value, dt.datetime) and self.kind is dt.date:
            return False
        return isinstance(value, self.kind)

    @typing.override
    def fits(self, value: object) -> bool:
        return type(value) is str


class BytesCodec(TypeCodec):
    """UTF-8 bytes inside a dataclass, which JSON holds as text."""

    @typing.override
    def decode(self, value: object, path: str) -> object:
        del path
        return value.encode() if isinstance(value, str) else value

    @typing.override
    def owns(self, value: object) -> bool:
        return isinstance(value, bytes)

    @typing.override
    def fits(self, value: object) -> bool:
        return isinstance(value, str)


class EnumCodec(TypeCodec):
    """An Enum by value where all its values are JSON scalars, else by name."""

    special = True

    def __init__(self, kind: type[enum.Enum]) -> None:
        self.kind = kind
        self.by_value = issubclass(kind, enum.Flag) or all(
            isinstance(member.value, str | int | float | NoneType) for member in kind
        )

    @typing.override
    def encode(self, value: object, path: str) -> object:
        if not isinstance(value, self.kind):
            return value
        return value.value if self.by_value else value.name

    @typing.override
    def decode(self, value: object, path: str) -> object:
        with _refusing(value, path, self.kind):
            return self.kind(value) if self.by_value else self.kind[str(value)]

    @typing.override
    def owns(self, value: object) -> bool:
        return isinstance(value, self.kind)

    @typing.override
    def fits(self, value: object) -> bool:
        return isinstance(value, str | int | float | NoneType)


class DataclassCodec(TypeCodec):
    """A dataclass as a dict of the fields that its constructor takes."""

    special = True

    def __init__(self, kind: type, fields: Callable[[type], dict[str, TypeCodec]]) -> None:
        self.kind = kind
        self._compile = fields
        self._fields: dict[str, TypeCodec] | None = None

    @property
    def fields(self) -> dict[str, TypeCodec]:
        """Compile the fields at first use, when classes that name each other all exist."""
        if self._fields is None:
            self._fields = self._compile(self.kind)
        return self._fields

    @typing.override
    def encode(self, value: object, path: str) -> object:
        if not isinstance(value, self.kind):
            return value
        _require_exact(value, path, self.kind)
        return {name: codec.encode(getattr(value, name), path_text(path, name)) for name, codec in self.fields.items()}

    @typing.override
    def decode(self, value: object, path: str) -> object:
        with _refusing(value, path, self.kind):
            stored = msgspec.convert(value, dict[str, object])
            known = {
                name: codec.decode(stored[name], path_text(path, name))
                for name, codec in self.fields.items()
                if name in stored
            }
            made: object = self.kind(**known)
            return made

    @typing.override
    def owns(self, value: object) -> bool:
        return type(value) is self.kind

    @typing.override
    def fits(self, value: object) -> bool:
        return isinstance(value, dict) and value.keys() == self.fields.keys()


class ModelCodec(TypeCodec):
    """A pydantic model, known only by what every version 2 model has."""

    special = True

    def __init__(self, kind: type) -> None:
        self.kind: typing.Any = kind

    @typing.override
    def encode(self, value: object, path: str) -> object:
        if not isinstance(value, self.kind):
            return value
        _require_exact(value, path, self.kind)
        with _refusing(value, path, self.kind):
            dumped: object = self.kind.model_dump(value, mode="json", by_alias=True, round_trip=True)
            return dumped

    @typing.override
    def decode(self, value: object, path: str) -> object:
        with _refusing(value, path, self.kind):
            model: object = self.kind.model_validate_json(to_json(normalise(value)))
            return model

    @typing.override
    def owns(self, value: object) -> bool:
        return type(value) is self.kind

    @typing.override
    def fits(self, value: object) -> bool:
        return isinstance(value, dict)


def _forms(value: object) -> Iterator[object]:
    """Give the value, then an instant's UTC form.

    Offsets with seconds have no standard spelling.
    """
    yield value
    if isinstance(value, dt.datetime) and value.utcoffset() is not None:
        yield value.astimezone(dt.UTC)


def _same(decoded: object, value: object) -> bool:
    """Compare, and take instants with equal offsets as equal where Python does not (a repeated hour's zone)."""
    if isinstance(decoded, dt.datetime) and isinstance(value, dt.datetime):
        offsets = (decoded.utcoffset(), value.utcoffset())
        if offsets[0] == offsets[1]:
            return decoded.replace(tzinfo=None, fold=0) == value.replace(tzinfo=None, fold=0)
        return None not in offsets and decoded == value.astimezone(dt.UTC)
    return decoded == value


def _require_exact(value: object, path: str, kind: type) -> None:
    if type(value) is not kind:
        raise InvalidArguments(
            f"{path}: {show(value)} is a {type(value).__name__} and would come back as the annotated {kind.__name__}. "
            f"Pass a {kind.__name__}, or annotate the parameter with {type(value).__name__}."
        )


@contextmanager
def _refusing(value: object, path: str, kind: type) -> Iterator[None]:
    """Turn whatever a type's own code raises into a refusal that names the path."""
    try:
        yield
    except InvalidArguments:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:_REASON_LENGTH]
        raise InvalidArguments(f"{path}: {show(value)} is no {kind.__name__}: {reason}.") from error
