"""The public errors: where they are found, and what they say without being told."""

import pytest

from oxpull_async import errors
from oxpull_async.domain import errors as defined
from oxpull_async.domain.errors import Contended, OxpullError

INTERNAL = {"UnknownStatement"}
CLASSES = [kind for kind in vars(defined).values() if isinstance(kind, type) and issubclass(kind, OxpullError)]


def test_F5_every_error_a_user_may_catch_is_importable_from_the_public_module() -> None:
    assert {kind.__name__ for kind in CLASSES} - INTERNAL == set(errors.__all__)
    assert all(getattr(errors, name) is getattr(defined, name) for name in errors.__all__)


@pytest.mark.parametrize("survived", [True, False])
def test_F5_contended_says_whether_the_callers_transaction_survived(survived: bool) -> None:
    assert Contended("a lock", transaction_survived=survived).transaction_survived is survived


def test_an_errors_docstring_is_its_default_message() -> None:
    assert str(errors.TransactionElsewhere()) == (
        "The open transaction belongs to another asyncio task. Enqueue in that task, or after the block has ended."
    )
