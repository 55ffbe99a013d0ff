"""Check and convert a task's arguments and return value as its function's signature says.

Only parameters whose annotations name a type that JSON does not have are converted; the others pass untouched.
"""

import collections.abc
import dataclasses
import datetime as dt
import decimal
import enum
import inspect
import sys
import types
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence

from oxpull_async.domain.container_codecs import MappingCodec, SequenceCodec, TupleCodec, UnionCodec
from oxpull_async.domain.errors import InvalidArguments, InvalidPayload
from oxpull_async.domain.signatures import POSITIONAL, CallShape, resolved_hints
from oxpull_async.domain.type_codecs import (
    PLAIN,
    BytesCodec,
    DataclassCodec,
    EnumCodec,
    ModelCodec,
    PlainCodec,
    ScalarCodec,
    TypeCodec,
)
from oxpull_async.domain.values import BY_ANNOTATION, JsonValue, normalise, normalise_call, path_text

type _Arguments = tuple[list[object], dict[str, object]]
type _Convert = Callable[[TypeCodec, object, str], object]

_RETURN_PATH = "return_value"

_PLAIN_TYPES: dict[object, TypeCodec] = {
    str: PlainCodec((str,)),
    bool: PlainCodec((bool,)),
    int: PlainCodec((int,)),
    float: PlainCodec((float, int)),
    types.NoneType: PlainCodec((types.NoneType,)),
    None: PlainCodec((types.NoneType,)),
    bytes: BytesCodec(),
    tuple: SequenceCodec(tuple, PLAIN),
    set: SequenceCodec(set, PLAIN),
    frozenset: SequenceCodec(frozenset, PLAIN),
}
_SCALARS: frozenset[object] = frozenset({dt.datetime, dt.date, dt.time, dt.timedelta, decimal.Decimal, uuid.UUID})
_SEQUENCES: dict[object, type[list[object] | set[object] | frozenset[object]]] = {
    list: list,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    set: set,
    collections.abc.Set: set,
    frozenset: frozenset,
}
_MAPPINGS: tuple[object, ...] = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class JsonCodec:
    """Carry arguments and return values as the JSON they are, whatever the signature says."""

    __slots__ = ("_shape",)

    def __init__(self, function: Callable[..., object], *, skip_first: int) -> None:
        self._shape = CallShape.of(function, skip_first=skip_first)

    @property
    def signature(self) -> inspect.Signature | None:
        """The parameters that callers pass, or None for a builtin that does not tell."""
        return self._shape.signature

    def encode(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[list[JsonValue], dict[str, JsonValue]]:
        """Return the arguments as JSON; raises InvalidArguments for a value that is none."""
        try:
            return normalise_call(args, kwargs)
        except InvalidArguments as error:
            raise InvalidArguments(_untyped(error)) from error.__cause__

    def decode(self, args: list[JsonValue], kwargs: dict[str, JsonValue]) -> _Arguments:
        """Return stored arguments as they are."""
        return args, kwargs  # type: ignore[return-value] # the worker only passes them on

    def encode_return(self, value: object) -> JsonValue:
        """Return the value as JSON; raises InvalidPayload where it is none."""
        try:
            return normalise(value, path=_RETURN_PATH)
        except InvalidArguments as error:
            raise InvalidPayload(_untyped(error)) from error.__cause__

    def decode_return(self, value: JsonValue) -> object:
        """Return a stored value as it is."""
        return value


def _untyped(error: InvalidArguments) -> str:
    """Return the text of an error without what annotations would allow."""
    return str(error).replace(BY_ANNOTATION, "")


class ArgumentCodec:
    """Check calls against one function's signature, and carry its typed values through JSON."""

    __slots__ = ("_converters", "_fewest", "_function", "_most", "_name", "_shape")

    def __init__(self, function: Callable[..., object], shape: CallShape) -> None:
        self._function = function
        self._shape = shape
        self._name = f"{function.__module__}.{getattr(function, '__qualname__', repr(function))}"
        self._fewest = shape.fewest
        self._most = shape.most
        self._converters: _Converters | None = None

    @classmethod
    def for_function(cls, function: Callable[..., object], *, skip_first: int) -> typing.Self:
        """Read the signature once; `skip_first` parameters are the worker's and left out.

        Annotations are resolved at first use, so that they may name classes defined further down.
        """
        return cls(function, CallShape.of(function, skip_first=skip_first))

    @property
    def signature(self) -> inspect.Signature | None:
        """The parameters that callers pass, or None for a builtin that does not tell."""
        return self._shape.signature

    def encode(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[list[JsonValue], dict[str, JsonValue]]:
        """Make a call's arguments JSON that the worker can decode.

        Raises:
            InvalidArguments: the call does not fit the signature, or a value cannot be stored or would not come back.
        """
        if kwargs or not self._fewest <= len(args) <= self._most:
            mismatch = self._shape.mismatch(args, kwargs)
            if mismatch is not None:
                raise InvalidArguments(f"{self._name}: {mismatch}")
        converters = self._converters or self._resolve()
        if not converters.special:
            return normalise_call(args, kwargs)
        plain = normalise_call(*converters.apply(args, kwargs, lambda codec, value, path: codec.encode(value, path)))
        self.decode(*plain)
        return plain

    def decode(self, args: list[JsonValue], kwargs: dict[str, JsonValue]) -> _Arguments:
        """Make the annotated values of stored arguments."""
        converters = self._converters or self._resolve()
        if not converters.special:
            return args, kwargs  # type: ignore[return-value] # the worker only passes them on
        return converters.apply(args, kwargs, lambda codec, value, path: codec.decode(value, path))

    def encode_return(self, value: object) -> JsonValue:
        """Make a return value JSON from which `decode_return` makes it again.

        Raises:
            InvalidPayload: it cannot be stored, or would not come back.
        """
        codec = (self._converters or self._resolve()).result
        try:
            if not codec.special:
                return normalise(value, path=_RETURN_PATH)
            plain = normalise(codec.encode(value, _RETURN_PATH), path=_RETURN_PATH)
            codec.decode(plain, _RETURN_PATH)
        except InvalidArguments as error:
            raise InvalidPayload(str(error)) from error.__cause__
        return plain

    def decode_return(self, value: JsonValue) -> object:
        """Make the annotated return value of stored JSON."""
        codec = (self._converters or self._resolve()).result
        return codec.decode(value, _RETURN_PATH) if codec.special else value

    def _resolve(self) -> "_Converters":
        self._converters = _Converters.of(self._function, self._shape.signature)
        return self._converters


@dataclasses.dataclass(frozen=True, slots=True)
class _Converters:
    """The codecs of one function's parameters and of its result."""

    positional: tuple[TypeCodec, ...]
    more_positional: TypeCodec
    named: dict[str, TypeCodec]
    more_named: TypeCodec
    result: TypeCodec
    special: bool

    @classmethod
    def of(cls, function: Callable[..., object], signature: inspect.Signature | None) -> "_Converters":
        hints = resolved_hints(function)
        parameters = () if signature is None else tuple(signature.parameters.values())
        codecs = {parameter.name: compile_annotation(hints.get(parameter.name)) for parameter in parameters}
        rest = {parameter.kind: codecs[parameter.name] for parameter in parameters}
        return cls(
            positional=tuple(codecs[parameter.name] for parameter in parameters if parameter.kind in POSITIONAL),
            more_positional=rest.get(inspect.Parameter.VAR_POSITIONAL, PLAIN),
            named={
                parameter.name: codecs[parameter.name]
                for parameter in parameters
                if parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
            },
            more_named=rest.get(inspect.Parameter.VAR_KEYWORD, PLAIN),
            result=compile_annotation(hints.get("return")),
            special=any(codec.special for codec in codecs.values()),
        )

    def apply(self, args: Sequence[object], kwargs: Mapping[str, object], convert: _Convert) -> _Arguments:
        """Convert each value whose parameter's annotation is special."""
        codecs = (*self.positional, *[self.more_positional] * (len(args) - len(self.positional)))
        items = [
            convert(codec, value, path_text("args", index)) if codec.special else value
            for index, (codec, value) in enumerate(zip(codecs, args, strict=False))
        ]
        named = {}
        for name, value in kwargs.items():
            codec = self.named.get(name, self.more_named)
            named[name] = convert(codec, value, path_text("kwargs", name)) if codec.special else value
        return items, named


def compile_annotation(annotation: object, within: frozenset[object] = frozenset()) -> TypeCodec:
    """Make the codec of a resolved annotation; what it does not know passes as plain JSON."""
    if isinstance(annotation, typing.TypeAliasType):
        return PLAIN if annotation in within else compile_annotation(annotation.__value__, within | {annotation})
    if isinstance(annotation, typing.NewType):
        return compile_annotation(annotation.__supertype__, within)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return compile_annotation(arguments[0], within)
    if origin is typing.Literal:
        return UnionCodec([_class_codec(kind) for kind in dict.fromkeys(map(type, arguments))])
    if origin is not None:
        generic = _generic_codec(origin, arguments, within)
        if generic is not None:
            return generic
    return _class_codec(origin or annotation)


def _generic_codec(origin: object, arguments: tuple[object, ...], within: frozenset[object]) -> TypeCodec | None:
    if origin is tuple and arguments[1:] == (...,):
        return SequenceCodec(tuple, compile_annotation(arguments[0], within))
    codecs = tuple(compile_annotation(argument, within) for argument in arguments)
    if origin in (typing.Union, types.UnionType):
        return UnionCodec(codecs)
    if origin is tuple:
        return TupleCodec(codecs)
    if origin in _SEQUENCES:
        return SequenceCodec(_SEQUENCES[origin], codecs[0])
    if origin in _MAPPINGS:
        return MappingCodec(*codecs)
    return None


def _class_codec(kind: object) -> TypeCodec:
    if not isinstance(kind, type):
        return _PLAIN_TYPES[None] if kind is None else PLAIN
    if kind in _PLAIN_TYPES:
        return _PLAIN_TYPES[kind]
    if kind in _SCALARS:
        return ScalarCodec(kind)
    if issubclass(kind, enum.Enum):
        return EnumCodec(kind)
    if _is_model(kind):
        return ModelCodec(kind)
    return DataclassCodec(kind, _field_codecs) if dataclasses.is_dataclass(kind) else PLAIN


def _field_codecs(kind: type) -> dict[str, TypeCodec]:
    hints = resolved_hints(kind)
    fields: tuple[dataclasses.Field[object], ...] = dataclasses.fields(kind)
    return {field.name: compile_annotation(hints.get(field.name, PLAIN)) for field in fields if field.init}


def _is_model(kind: type) -> bool:
    """Say whether this is a pydantic model; nobody has one without having imported pydantic."""
    base = getattr(sys.modules.get("pydantic"), "BaseModel", None)
    return isinstance(base, type) and issubclass(kind, base)
