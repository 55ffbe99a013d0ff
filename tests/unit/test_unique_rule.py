"""C2: what `Unique` refuses where it is declared, and by which words; the bounds of its durations."""

import math
from datetime import timedelta
from typing import Any

import pytest

from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import LONGEST, Holder, Unique, Until, is_held

DEBOUNCE: dict[str, Any] = {"on_duplicate": "debounce", "wait": 5}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"until": "ended"}, "until='ended' must be one of settled, started, expired"),
        ({"on_duplicate": "skip"}, "on_duplicate='skip' must be one of existing, raise, replace, debounce, rerun"),
        ({"until": "expired", "ttl": math.inf}, 'until="expired" needs a finite ttl'),
        ({"until": "expired", "ttl": 5, "on_duplicate": "replace"}, 'not with "replace"'),
        ({"until": "expired", "ttl": 5, **DEBOUNCE}, 'not with "debounce"'),
        ({"until": "expired", "on_duplicate": "rerun"}, 'not with "rerun"'),
        ({"on_duplicate": "debounce"}, "needs wait"),
        ({"until": "settled", **DEBOUNCE}, 'holds the key until "started"'),
        ({**DEBOUNCE, "max_wait": 4.9}, "max_wait=4.9 is shorter than wait=5.0"),
        ({"wait": 5}, 'belong to on_duplicate="debounce", not to "existing"'),
        ({"max_wait": 5, "on_duplicate": "rerun"}, 'belong to on_duplicate="debounce", not to "rerun"'),
        ({"until": "started", "on_duplicate": "rerun"}, 'until "settled" and takes no ttl'),
        ({"ttl": 5, "on_duplicate": "rerun"}, 'until "settled" and takes no ttl'),
        ({"ttl": 0}, "ttl=0 must be above zero"),
        ({"ttl": timedelta()}, "must be above zero"),
        ({"ttl": -1}, "ttl=-1 is out of range"),
        ({"ttl": -math.inf}, "ttl=-inf is out of range"),
        ({"ttl": math.nan}, "ttl=nan is out of range"),
        ({"ttl": "5"}, "ttl='5' is no duration"),
        ({"ttl": True}, "ttl=True is no duration"),
        ({"ttl": 10**400}, "is out of range"),
        ({"ttl": LONGEST * 1.01}, "is out of range: at most 1e+11 seconds, or leave it out"),
        ({"ttl": timedelta.max}, "is out of range: at most"),
        ({**DEBOUNCE, "wait": 1e12}, "wait=1000000000000.0 is out of range: at most"),
        ({**DEBOUNCE, "max_wait": math.inf}, "max_wait=inf is out of range"),
        ({"key": "order"}, "must be a function of the task's arguments"),
    ],
    ids=str,
)
def test_C2_a_rule_that_cannot_be_is_refused_where_it_is_declared(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidTask) as refused:
        Unique(**options)
    assert words in str(refused.value)


@pytest.mark.parametrize("status", TaskStatus, ids=str)
def test_C2_without_a_ttl_an_expired_rule_looks_at_the_holder(status: TaskStatus) -> None:
    held = is_held(Until.EXPIRED, Holder(status, 1, is_expired=None, has_follow_up=False))
    assert held is not status.is_finished
