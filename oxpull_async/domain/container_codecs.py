"""Compose codecs as annotations compose types: sequences, tuples, mappings and unions."""

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from oxpull_async.domain.errors import InvalidArguments
from oxpull_async.domain.type_codecs import PLAIN, TypeCodec
from oxpull_async.domain.values import normalise, path_text, show


class SequenceCodec(TypeCodec):
    """A list, set or tuple of any length."""

    def __init__(
        self, make: type[list[object] | set[object] | frozenset[object] | tuple[object, ...]], item: TypeCodec
    ) -> None:
        self.make = make
        self.item = item
        self.special = item.special

    @typing.override
    def encode(self, value: object, path: str) -> object:
        if not isinstance(value, Sequence | set | frozenset) or isinstance(value, str | bytes):
            return value
        return [self.item.encode(item, path_text(path, index)) for index, item in enumerate(value)]

    @typing.override
    def decode(self, value: object, path: str) -> object:
        items = enumerate(_list(value, path))
        return self.make(self.item.decode(item, path_text(path, index)) for index, item in items)

    @typing.override
    def owns(self, value: object) -> bool:
        return isinstance(value, self.make) and all(map(self.item.owns, value))

    @typing.override
    def fits(self, value: object) -> bool:
        return isinstance(value, list) and all(map(self.item.fits, value))


class TupleCodec(TypeCodec):
    """A tuple of fixed length."""

    def __init__(self, items: tuple[TypeCodec, ...]) -> None:
        self.items = items
        self.special = any(item.special for item in items)

    @typing.override
    def encode(self, value: object, path: str) -> object:
        if not isinstance(value, tuple | list):
            return value
        return [codec.encode(item, part) for codec, item, part in self._pairs(value, path)]

    @typing.override
    def decode(self, value: object, path: str) -> object:
        return tuple(codec.decode(item, part) for codec, item, part in self._pairs(_list(value, path), path))

    @typing.override
    def owns(self, value: object) -> bool:
        if not isinstance(value, tuple) or len(value) != len(self.items):
            return False
        return all(codec.owns(item) for codec, item in zip(self.items, value, strict=True))

    @typing.override
    def fits(self, value: object) -> bool:
        if not isinstance(value, list) or len(value) != len(self.items):
            return False
        return all(codec.fits(item) for codec, item in zip(self.items, value, strict=True))

    def _pairs(self, value: Sequence[object], path: str) -> Iterator[tuple[TypeCodec, object, str]]:
        if len(value) != len(self.items):
            raise InvalidArguments(f"{path}: {show(value)} has {len(value)} items, its annotation {len(self.items)}.")
        for index, (codec, item) in enumerate(zip(self.items, value, strict=True)):
            yield codec, item, path_text(path, index)


class MappingCodec(TypeCodec):
    """A dict, whose keys are text in JSON."""

    def __init__(self, key: TypeCodec, item: TypeCodec) -> None:
        self.key = key
        self.item = item
        self.special = key.special or item.special

    @typing.override
    def encode(self, value: object, path: str) -> object:
        if not isinstance(value, Mapping):
            return value
        return {
            self.key.encode(key, path): self.item.encode(item, path_text(path, str(key))) for key, item in value.items()
        }

    @typing.override
    def decode(self, value: object, path: str) -> object:
        if not isinstance(value, dict):
            raise InvalidArguments(f"{path}: {show(value)} is not a dict.")
        return {
            self._decode_key(key, path): self.item.decode(item, path_text(path, key)) for key, item in value.items()
        }

    @typing.override
    def owns(self, value: object) -> bool:
        return isinstance(value, Mapping) and all(map(self.item.owns, value.values()))

    @typing.override
    def fits(self, value: object) -> bool:
        return isinstance(value, dict) and all(map(self.item.fits, value.values()))

    def _decode_key(self, text: str, path: str) -> object:
        """Read a key as text where the annotation wants text, else as the number or word it spells."""
        for candidate in (text, _spelled(text)):
            if self.key.fits(candidate):
                with suppress(InvalidArguments):
                    return self.key.decode(candidate, path)
        raise InvalidArguments(f"{path}: the key {show(text)} is not of the annotated type.")


class UnionCodec(TypeCodec):
    """Tell several types apart by the form of their JSON, and refuse what cannot be told apart."""

    def __init__(self, members: Iterable[TypeCodec]) -> None:
        self.members = sorted(members, key=lambda member: (not member.special, member is PLAIN))
        self.special = any(member.special for member in self.members)

    @typing.override
    def encode(self, value: object, path: str) -> object:
        owner = next((member for member in self.members if member.owns(value)), None)
        if owner is None:
            return value
        encoded = owner.encode(value, path)
        if self._read(normalise(encoded, path=path), path)[0] is not owner:
            raise InvalidArguments(
                f"{path}: {show(value)} would come back as another type of its annotation's union, because both look "
                "the same in JSON. Annotate the parameter with one type."
            )
        return encoded

    @typing.override
    def decode(self, value: object, path: str) -> object:
        return self._read(value, path)[1]

    @typing.override
    def owns(self, value: object) -> bool:
        return any(member.owns(value) for member in self.members)

    @typing.override
    def fits(self, value: object) -> bool:
        return any(member.fits(value) for member in self.members)

    def _read(self, value: object, path: str) -> tuple[TypeCodec, object]:
        exact = [member for member in self.members if member.fits(value)]
        lenient = [member for member in self.members if member.special and member not in exact]
        for member in exact + lenient:
            with suppress(InvalidArguments):
                return member, member.decode(value, path)
        raise InvalidArguments(f"{path}: {show(value)} is of no type of its annotation's union.")


def _list(value: object, path: str) -> list[object]:
    if isinstance(value, list):
        return value
    raise InvalidArguments(f"{path}: {show(value)} is not a list.")


def _spelled(key: str) -> object:
    with suppress(msgspec.DecodeError):
        word: object = msgspec.json.decode(key)
        return word
    return key
