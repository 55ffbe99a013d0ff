"""Turn what callers pass into JSON that every supported database stores, and back.

`normalise` makes the value, `to_json` its text. A value that some database would refuse or change is refused here, by
its path inside the arguments: NUL, lone surrogates, numbers out of range, nesting that is too deep.
"""

import json
import math
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from json import encoder as json_encoder
from typing import NoReturn

import msgspec

from oxpull_async.domain.errors import InvalidArguments, InvalidPayload

type JsonValue = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None

MAX_DEPTH = 100
_MIN_INTEGER = -(2**63)
_MAX_INTEGER = 2**64 - 1
_MAX_KEY_BYTES = 65_535  # MySQL's JSON keeps a key's length in two bytes

_SAFE_KEY_LENGTH = _MAX_KEY_BYTES // 4
_SHOWN_LENGTH = 80
BY_ANNOTATION = (
    "; a datetime, date, time, timedelta, Decimal, UUID, Enum, dataclass or pydantic model where the function's "
    "annotation names its type"
)
"""The part of a refusal that is so for typed arguments only."""

_JSON_WAY_OUT = f"Pass text, numbers, booleans, None, lists and dicts only{BY_ANNOTATION}"


class _RefusedValue(Exception):
    """A value that cannot be stored.

    Each enclosing container adds its part of the path while this passes through.
    """

    def __init__(self, value: object, rule: str, way_out: str) -> None:
        super().__init__(rule)
        self.value = value
        self.rule = rule
        self.way_out = way_out
        self.parts: list[int | str] = []

    def message(self, path: str) -> str:
        """Name the path, the value, the rule and the way out."""
        return f"{path_text(path, *reversed(self.parts))}: {show(self.value)} {self.rule}. {self.way_out}."


def normalise(value: object, *, path: str = "args") -> JsonValue:
    """Make a JSON value of `value` that shares no container with it.

    Dict keys become text, tuples and other sequences lists, UTF-8 bytes text; numbers and text of a subclass (IntEnum,
    StrEnum) their plain value. Depth counts as MySQL counts it: a scalar is one level.

    Raises:
        InvalidArguments: some database would refuse the value or change it.
    """
    if value is None:
        return None
    try:
        return _walk(value, 1)
    except _RefusedValue as refused:
        raise InvalidArguments(refused.message(path)) from None


def normalise_call(
    args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[list[JsonValue], dict[str, JsonValue]]:
    """Normalise a call's arguments; paths begin with `args` and `kwargs`."""
    try:
        items = _list(args, 1)
    except _RefusedValue as refused:
        raise InvalidArguments(refused.message("args")) from None
    if not kwargs:
        return items, {}
    try:
        return items, _dict(kwargs, 1)
    except _RefusedValue as refused:
        raise InvalidArguments(refused.message("kwargs")) from None


def to_json(value: JsonValue) -> str:
    """Write a normalised value as compact ASCII JSON whose floats stay floats on every database.

    PostgreSQL's jsonb keeps a number's digits and not its kind: 1e+16 would come back as an integer, so floats of that
    size are written out with `.0` at their end.
    """
    if not value and type(value) is dict:
        return "{}"
    text = _encode_compact(value)
    return _BIG_FLOAT.sub(_write_out, text) if "e+" in text else text


def canonical_json(value: JsonValue) -> str:
    """Write a normalised value as the one text that unique keys are hashed from."""
    return _encode_sorted(value)


def encode(value: object, *, path: str, max_bytes: int) -> str:
    """Normalise `value` and write it as JSON of at most `max_bytes` bytes.

    Raises:
        InvalidArguments: some database would refuse the value, or it is too large.
    """
    return encode_normalised(normalise(value, path=path), path=path, max_bytes=max_bytes)


def encode_normalised(value: JsonValue, *, path: str, max_bytes: int) -> str:
    """Write a normalised value as JSON of at most `max_bytes` bytes."""
    text = to_json(value)
    if len(text) > max_bytes:
        raise InvalidArguments(
            f"{path}: {show(value)} takes {len(text)} bytes of JSON, and at most {max_bytes} are stored. "
            "Store the data elsewhere and pass a reference to it, or raise max_payload_bytes."
        )
    return text


def encode_payload(value: object, *, path: str, max_bytes: int) -> str:
    """Do what `encode` does for a value that a task hands back, and refuse it as InvalidPayload."""
    try:
        return encode(value, path=path, max_bytes=max_bytes)
    except InvalidArguments as error:
        raise InvalidPayload(str(error)) from None


def rows_json(rows: Sequence[Mapping[str, object] | msgspec.Struct]) -> str:
    """Write the rows of a bulk statement as one JSON text."""
    try:
        return _encode_rows(rows).decode()
    except UnicodeEncodeError:
        # A lone surrogate, in a name that nobody checked: the database says what it thinks of it.
        return json.dumps(msgspec.to_builtins(rows))


def decode(text: str) -> JsonValue:
    """Read stored JSON."""
    if text == "[]":
        return []
    if text == "{}":
        return {}
    if text == "null":
        return None
    try:
        value: JsonValue = _decode_strictly(text)
    except msgspec.DecodeError:
        # Rows that other programs wrote may hold NaN, 1e400 or lone surrogates: readable, if not ours.
        value = json.loads(text)
    return value


def path_text(path: str, *parts: int | str) -> str:
    """Spell a place inside a value as Python would index it: args[2]["when"]."""
    return path + "".join(f"[{part}]" if isinstance(part, int) else f"[{_shown_key(part)}]" for part in parts)


def show(value: object) -> str:
    """Describe any value in at most 80 characters, whatever its `__repr__` does."""
    try:
        shown = _SHORT.repr(value).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - the caller's __repr__
        shown = f"<{type(value).__name__}>"
    if len(shown) <= _SHOWN_LENGTH:
        return shown
    return f"{shown[: _SHOWN_LENGTH - 23]}...{shown[-20:]}"


_SHORT = reprlib.Repr(maxlevel=3, maxstring=60, maxother=70, maxlong=40)


def _shown_key(key: str) -> str:
    return json.dumps(key if len(key) <= _SHOWN_LENGTH // 2 else f"{key[: _SHOWN_LENGTH // 2]}...")


def _walk(value: object, depth: int) -> JsonValue:
    if type(value) is str:
        return _text(value)
    if value is None or type(value) is bool:
        return value
    if type(value) is int:
        return _integer(value)
    if type(value) is list or type(value) is tuple:
        return _list(value, depth)
    if type(value) is dict:
        return _dict(value, depth)
    return _unusual(value, depth)


def _list(value: Sequence[object], depth: int) -> list[JsonValue]:
    if depth >= MAX_DEPTH and value:
        _refuse_depth(value)
    items: list[JsonValue] = []
    add = items.append
    try:
        for item in value:
            # What nearly every argument is, without a call.
            if type(item) is str and item.isascii() and "\0" not in item:  # noqa: SIM114 - two plain conditions
                add(item)
            elif type(item) is int and _MIN_INTEGER <= item <= _MAX_INTEGER:
                add(item)
            else:
                add(_walk(item, depth + 1))
    except _RefusedValue as refused:
        refused.parts.append(len(items))
        raise
    return items


def _dict[K](value: Mapping[K, object], depth: int) -> dict[str, JsonValue]:
    if depth >= MAX_DEPTH and value:
        _refuse_depth(value)
    items: dict[str, JsonValue] = {}
    for key, item in value.items():
        text = _key(key)
        if text in items:
            raise _RefusedValue(value, f"has two keys that both become {show(text)}", "Rename one of them")
        try:
            items[text] = _walk(item, depth + 1)
        except _RefusedValue as refused:
            refused.parts.append(text)
            raise
    return items


def _unusual(value: object, depth: int) -> JsonValue:
    if isinstance(value, str):
        return _text(str.__str__(value))
    if isinstance(value, int):
        return _integer(int.__int__(value))
    if isinstance(value, float):
        return _float(float.__float__(value))
    if isinstance(value, bytes):
        return _text(_decoded(value))
    if isinstance(value, Mapping):
        return _dict(dict(_read(value, value.items)), depth)
    if isinstance(value, Sequence):
        return _list(_read(value, lambda: value), depth)
    raise _RefusedValue(value, f"is of type {_type_name(value)}, which JSON does not have", _JSON_WAY_OUT)


def _read[T](value: object, items: Callable[[], Iterable[T]]) -> list[T]:
    try:
        return list(items())
    except Exception as error:  # noqa: BLE001 - a container of the caller's own making
        rule = f"cannot be read: {type(error).__name__}: {show(str(error))}"
        raise _RefusedValue(value, rule, "Pass a list or a dict") from None


def _key(key: object) -> str:
    if type(key) is str and len(key) <= _SAFE_KEY_LENGTH and key.isascii() and "\0" not in key:
        return key
    text = _key_text(key)
    if len(text) > _SAFE_KEY_LENGTH and len(text.encode()) > _MAX_KEY_BYTES:
        raise _RefusedValue(key, f"is a key of more than {_MAX_KEY_BYTES} bytes", "Shorten it, or move it into a value")
    return text


def _key_text(key: object) -> str:
    """Spell a key as json.dumps would."""
    if isinstance(key, str):
        return _text(str.__str__(key))
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int):
        return str(_integer(int.__int__(key)))
    if isinstance(key, float):
        return float.__repr__(_float(float.__float__(key)))
    if isinstance(key, bytes):
        return _text(_decoded(key))
    raise _RefusedValue(key, f"is a key of type {_type_name(key)}", "Use text, numbers, booleans or None as keys")


def _text(value: str) -> str:
    if "\0" in value:
        raise _RefusedValue(value, "holds a NUL character, which PostgreSQL cannot store", "Remove it")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _RefusedValue(
                value, "holds a lone surrogate, which is no character", "Decode its source as UTF-8, or replace it"
            ) from None
    return value


def _integer(value: int) -> int:
    if _MIN_INTEGER <= value <= _MAX_INTEGER:
        return value
    raise _RefusedValue(value, "is outside -2**63 .. 2**64-1", "Pass it as text")


def _float(value: float) -> float:
    if math.isfinite(value):
        return value
    raise _RefusedValue(value, "is not a finite number", "Pass None or text")


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise _RefusedValue(value, "is not UTF-8 text", "Encode it as text, for example with base64") from None


def _refuse_depth(value: object) -> NoReturn:
    raise _RefusedValue(
        value, f"is nested deeper than {MAX_DEPTH} levels", "Flatten it, make sure that it does not hold itself"
    )


def _type_name(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


# A string is matched first and kept, so that text which looks like a number stays as it is.
_BIG_FLOAT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9.]+e\+[0-9]+')


def _write_out(match: re.Match[str]) -> str:
    token = match[0]
    return token if token.startswith('"') else f"{Decimal(token):f}.0"


def _not_normalised(value: object) -> NoReturn:
    raise TypeError(f"{show(value)} has not been normalised")


def _encoder(*, sort_keys: bool) -> Callable[[JsonValue], str]:
    """Make the standard library's encoder once.

    `JSONEncoder.encode` makes it anew for each value.
    """
    make = getattr(json_encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(separators=(",", ":"), sort_keys=sort_keys, allow_nan=False).encode
    text_encoder = json_encoder.encode_basestring_ascii
    chunks = make(None, _not_normalised, text_encoder, None, ":", ",", sort_keys, False, False)

    def encode_once(value: JsonValue) -> str:
        return "".join(chunks(value, 0))

    return encode_once


_encode_compact = _encoder(sort_keys=False)
_encode_sorted = _encoder(sort_keys=True)
_encode_rows = msgspec.json.Encoder().encode
_decode_strictly = msgspec.json.Decoder().decode
