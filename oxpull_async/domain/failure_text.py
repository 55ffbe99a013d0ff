"""Make texts about failures storable: readable, bounded, never another failure's cause."""

import traceback

_HEAD_SHARE = 4
_MARKER_ROOM = 64
_MAX_CLASS_PATH_BYTES = 1024
_PUBLIC = {"oxpull_async.domain.errors": "oxpull_async.errors"}  # stored for ever, so only what is promised


def storable_text(text: str, limit: int = 16 * 1024) -> str:
    """Spell out what databases refuse, and cut the middle to keep `limit` bytes of UTF-8."""
    data = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace")
    if len(data) <= limit:
        return data.decode()
    room = limit - _MARKER_ROOM
    if room <= 0:
        return data[: max(limit, 0)].decode("utf-8", "ignore")
    head = data[: room // _HEAD_SHARE].decode("utf-8", "ignore")
    tail = data[-(room - room // _HEAD_SHARE) :].decode("utf-8", "ignore")
    cut = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[... {cut} bytes cut ...]\n{tail}"


def describe_exception(error: BaseException) -> tuple[str, str]:
    """Give an exception's class path and traceback as storable text, come what may."""
    path = class_path(type(error))
    try:
        text = "".join(traceback.format_exception(error))
    except Exception as failure:  # noqa: BLE001 - an exception's own methods may raise anything
        text = f"{path}: the traceback could not be written ({class_path(type(failure))})\n"
    return storable_text(path, _MAX_CLASS_PATH_BYTES), storable_text(text)


def class_path(kind: type[BaseException]) -> str:
    """Return the dotted path of an exception's class; ours are named where users import them."""
    try:
        return f"{_PUBLIC.get(kind.__module__, kind.__module__)}.{kind.__qualname__}"
    except Exception:  # noqa: BLE001 - a metaclass may raise anything
        return "builtins.BaseException"
