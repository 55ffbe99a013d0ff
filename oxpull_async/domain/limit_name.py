"""The name of a rate limit, as declarations and a task's `Retry` give it."""

from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.storable import is_name

MAX_NAME = 128


def checked_limit_name(name: object) -> str:
    """Return the name of a limit.

    Raises: UsageError unless it is text of 1 to 128 characters that can be stored.
    """
    if not is_name(name, MAX_NAME):
        raise UsageError(
            f"the rate limit {name!r:.160}: its name must be text of 1 to {MAX_NAME} characters without NUL or lone "
            "surrogates"
        )
    return name
