"""What names may be made of, so that every database stores them and gives them back."""

from typing import TypeGuard


def is_name(name: object, most: int, *, least: int = 1) -> TypeGuard[str]:
    """Whether this is text of `least` to `most` characters, without NUL or lone surrogates."""
    return isinstance(name, str) and least <= len(name) <= most and "\0" not in name and is_encodable(name)


def is_encodable(text: str) -> bool:
    """Whether text can be written as UTF-8, which a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
