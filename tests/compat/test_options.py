"""OPTIONS of TASKS: every key takes effect, and every fault is named, all of them at once."""

from datetime import timedelta
from math import inf, nan
from types import MappingProxyType
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from compat_sync.options import DEFAULT_GRACE, BackendOptions, examine, mended, read_options
from oxpull_async import Exponential, Oxpull, RunningLock, Unique, Worker
from oxpull_async.domain.settings import Settings


def read(queues: object = ("default", "mail"), /, **options: Any) -> BackendOptions:
    return read_options("default", {"BACKEND": "…", "QUEUES": queues, "OPTIONS": options})


def refusal(queues: object = ("default", "mail"), /, **options: Any) -> str:
    with pytest.raises(ImproperlyConfigured) as refused:
        read(queues, **options)
    return str(refused.value)


def codes(**options: Any) -> list[str]:
    _, problems = examine("default", {"OPTIONS": options})
    return [problem.code for problem in problems]


def test_an_entry_without_options_has_the_defaults_of_plain_asyncio() -> None:
    options = read_options("default", {"BACKEND": "…"})
    assert options.settings == Settings.of({"queues": ["default"]})
    assert (options.pool_size, options.pooler, options.listen_url) == (10, "session", None)
    assert (options.queue_timeouts, options.task_options) == ({}, {})


def test_the_grace_is_the_worker_s_own() -> None:
    assert read().timeout_grace == DEFAULT_GRACE == Worker.grace


def test_an_empty_list_of_queues_allows_any() -> None:
    assert read([]).settings.queues == frozenset()


def test_every_key_takes_effect() -> None:
    options = read(
        MAX_ATTEMPTS=7,
        LOCK_TIMEOUT=timedelta(minutes=2),
        TASK_TIMEOUT=60,
        TASK_TIMEOUTS={"mail": 5, "default": None},
        TASK_TIMEOUT_GRACE=3,
        BACKOFF_INITIAL=1,
        BACKOFF_MAX=timedelta(seconds=30),
        UNIQUE_TASKS=["shop.tasks.send_invoice"],
        UNIQUE_TTL=90,
        MAX_PAYLOAD_BYTES=1000,
        POOL_SIZE=3,
        POOLER="transaction",
        LISTEN_URL="postgresql://localhost/shop",
        TASK_OPTIONS={"shop.tasks.push": {"max_attempts": 2}},
    )
    settings = options.settings
    assert (settings.alias, settings.queues) == ("default", frozenset({"default", "mail"}))
    assert (settings.defaults.max_attempts, settings.lease_seconds, settings.defaults.timeout) == (7, 120, 60)
    assert settings.defaults.policy.backoff == Exponential(1, 30)
    assert (settings.unique_tasks, settings.unique_ttl) == (frozenset({"shop.tasks.send_invoice"}), 90)
    assert settings.max_payload_bytes == 1000
    assert (options.queue_timeouts, options.timeout_grace) == ({"mail": 5, "default": None}, 3)
    assert (options.pool_size, options.pooler) == (3, "transaction")
    assert options.listen_url == "postgresql://localhost/shop"
    assert options.task_options == {"shop.tasks.push": {"max_attempts": 2}}


def test_one_backoff_key_keeps_the_other_s_default() -> None:
    assert read(BACKOFF_MAX=50).settings.defaults.policy.backoff == Exponential(5, 50)
    assert read(BACKOFF_INITIAL=9).settings.defaults.policy.backoff == Exponential(9, 600)


def test_options_do_not_change_behind_the_reader_s_back() -> None:
    given = {"shop.tasks.push": {"max_attempts": 2}}
    options = read(TASK_OPTIONS=given, TASK_TIMEOUTS={"mail": 5})
    given["shop.tasks.push"]["max_attempts"] = 9
    assert options.task_options == {"shop.tasks.push": {"max_attempts": 2}}
    assert isinstance(options.queue_timeouts, MappingProxyType)


def test_equal_settings_read_as_equal_options() -> None:
    def key(order: int) -> str:
        return str(order)

    def once() -> BackendOptions:
        return read(TASK_OPTIONS={"a.b": {"unique": Unique(key=key)}}, TASK_TIMEOUTS={"mail": 1})

    assert once() == once()
    assert once() != read()


def test_every_fault_is_named_at_once() -> None:
    text = refusal(MAX_ATTEMPTS="x", LOCK_TIMEOUT=0, UNIQUE_TASKS="a.b", POOL_SIZE=0, NONSENSE=1, RATE_LIMITS=1)
    for name in (
        "MAX_ATTEMPTS='x'",
        "LOCK_TIMEOUT=0",
        "UNIQUE_TASKS='a.b'",
        "POOL_SIZE=0",
        "'NONSENSE'",
        "RATE_LIMITS=1",
    ):
        assert "TASKS['default']: " in text
        assert name in text
    assert len(text.splitlines()) == 6


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("MAX_ATTEMPTS", -1, "MAX_ATTEMPTS=-1 must be a whole number from 1 to 32767"),
        ("MAX_ATTEMPTS", 40_000, "MAX_ATTEMPTS=40000"),
        ("MAX_ATTEMPTS", None, "MAX_ATTEMPTS=None"),
        ("MAX_ATTEMPTS", nan, "MAX_ATTEMPTS=nan"),
        ("MAX_ATTEMPTS", inf, "MAX_ATTEMPTS=inf"),
        ("LOCK_TIMEOUT", 0.5, "LOCK_TIMEOUT=0.5 is too short"),
        ("LOCK_TIMEOUT", "5", "LOCK_TIMEOUT='5' is no duration"),
        ("LOCK_TIMEOUT", None, "LOCK_TIMEOUT=None"),
        ("TASK_TIMEOUT", 0, "TASK_TIMEOUT=0 would end every attempt at once"),
        ("TASK_TIMEOUT", -1, "TASK_TIMEOUT=-1"),
        ("TASK_TIMEOUTS", 5, "TASK_TIMEOUTS=5 must be a dict"),
        ("TASK_TIMEOUTS", {"mail": "x"}, "TASK_TIMEOUTS['mail']='x'"),
        ("TASK_TIMEOUTS", {"": 1}, "TASK_TIMEOUTS: the queue=''"),
        ("TASK_TIMEOUTS", {"post": 1}, "TASK_TIMEOUTS names 'post', and QUEUES has default, mail only"),
        ("TASK_TIMEOUT_GRACE", None, "TASK_TIMEOUT_GRACE=None"),
        ("TASK_TIMEOUT_GRACE", 0, "TASK_TIMEOUT_GRACE=0"),
        ("BACKOFF_INITIAL", 0, "BACKOFF_INITIAL=0"),
        ("BACKOFF_MAX", inf, "BACKOFF_MAX=inf"),
        ("UNIQUE_TASKS", {"a.b": 1}, "must be a list of names"),
        ("UNIQUE_TASKS", ["nodots"], "'nodots'"),
        ("UNIQUE_TASKS", [5], "UNIQUE_TASKS: 5"),
        ("UNIQUE_TTL", 0, "UNIQUE_TTL=0 must be above zero"),
        ("MAX_PAYLOAD_BYTES", 1, "MAX_PAYLOAD_BYTES=1"),
        ("POOL_SIZE", True, "POOL_SIZE=True"),
        ("POOL_SIZE", 1001, "POOL_SIZE=1001"),
        ("POOLER", "pgbouncer", "POOLER='pgbouncer' must be one of session, transaction"),
        ("LISTEN_URL", 5, "LISTEN_URL must be None or a URL"),
        ("TASK_OPTIONS", [], "TASK_OPTIONS=[] must be a dict"),
    ],
)
def test_a_value_that_the_core_refuses_is_named_by_its_key(key: str, value: object, words: str) -> None:
    assert words in refusal(**{key: value})


def test_a_url_that_is_refused_is_not_shown() -> None:
    assert "secret" not in refusal(LISTEN_URL="user:secret@host")


@pytest.mark.parametrize(
    ("queues", "words"),
    [("default", "QUEUES='default' must be a list"), ([""], "QUEUES: the queue=''"), (5, "QUEUES=5"), ([5], "queue=5")],
)
def test_queues_are_a_list_of_names(queues: object, words: str) -> None:
    assert words in refusal(queues)


@pytest.mark.parametrize("wrong", [{"QUEUES": 5}, {"QUEUES": [[]]}, {"QUEUES": "default"}, {"OPTIONS": None}])
def test_an_entry_of_a_wrong_shape_is_mended_for_django_s_base_class(wrong: dict[str, Any]) -> None:
    params = mended({"BACKEND": "…"} | wrong)
    assert set(params["QUEUES"]) <= {"default"}
    assert params["OPTIONS"] == {}
    assert params["BACKEND"] == "…"


def test_a_right_entry_needs_no_mending() -> None:
    assert mended({"QUEUES": ["mail"], "OPTIONS": {"POOL_SIZE": 3}}) == {
        "QUEUES": ["mail"],
        "OPTIONS": {"POOL_SIZE": 3},
    }


def test_queues_inside_options_are_refused() -> None:
    assert "QUEUES stands inside OPTIONS" in refusal(QUEUES=["default"])


def test_options_are_a_dict_and_the_alias_is_short() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"OPTIONS=\[\] must be a dict"):
        read_options("default", {"OPTIONS": []})
    with pytest.raises(ImproperlyConfigured, match="alias="):
        read_options("x" * 129, {})


@pytest.mark.parametrize(
    ("key", "near"),
    [("MAX_ATEMPTS", "MAX_ATTEMPTS"), ("max_attempts", "MAX_ATTEMPTS"), ("LEASE_SECONDS", "LOCK_TIMEOUT")],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(key: str, near: str) -> None:
    _, [problem] = examine("default", {"OPTIONS": {key: 1}})
    assert (problem.code, problem.hint) == ("E201", f"Did you mean {near!r}?")


def test_a_key_like_none_is_refused_with_those_that_are_known() -> None:
    _, [problem] = examine("default", {"OPTIONS": {"XYZ": 1}})
    assert problem.hint is not None
    assert "MAX_ATTEMPTS" in problem.hint


@pytest.mark.parametrize("key", ["WORKER_CLASS", "WORKFLOWS", "RATE_REFRESH_INTERVAL", "SCHEDULE_RECONCILE_INTERVAL"])
def test_keys_of_django_ox_without_an_effect_are_accepted(key: str) -> None:
    read(**{key: "anything"})
    assert codes(**{key: "anything"}) == ["I201"]


@pytest.mark.parametrize(("given", "taken"), [("3", 3), (3.7, 3), (True, 1), (0, 1), (False, 1), (2.0, 2)])
def test_an_old_form_of_max_attempts_is_taken_with_a_warning(given: object, taken: int) -> None:
    assert read(MAX_ATTEMPTS=given).settings.defaults.max_attempts == taken
    assert codes(MAX_ATTEMPTS=given) == ["W104"]
    assert codes(MAX_ATTEMPTS=taken) == []


def test_a_backoff_that_starts_above_its_maximum_is_taken_with_a_warning() -> None:
    assert codes(BACKOFF_INITIAL=10, BACKOFF_MAX=5) == ["W103"]
    assert codes(BACKOFF_INITIAL=900) == ["W103"]
    assert codes(BACKOFF_INITIAL=5, BACKOFF_MAX=5) == []


GOOD: dict[str, Any] = {
    "unique": Unique(until="started"),
    "running_lock": RunningLock(name="erp"),
    "max_attempts": 2,
    "backoff": [1, 2],
    "timeout": timedelta(seconds=1),
    "retry_on": (OSError, TimeoutError),
    "fail_on": ValueError,
}


def test_task_options_take_what_the_decorator_takes() -> None:
    assert read(TASK_OPTIONS={"shop.tasks.push": GOOD}).task_options["shop.tasks.push"] == GOOD
    assert set(GOOD) <= set(Oxpull.task.__doc__.replace("`", " ").split()) if Oxpull.task.__doc__ else False


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"push": {}}, "must be a task's dotted path"),
        ({5: {}}, "TASK_OPTIONS[5]"),
        ({"a.b": 5}, "must be a dict of keywords"),
        ({"a.b": {"max_attempt": 1}}, "did you mean 'max_attempts'"),
        ({"a.b": {"queue_name": "x"}}, "unexpected keyword argument 'queue_name'"),
        ({"a.b": {"max_attempts": 0}}, "TASK_OPTIONS['a.b']: max_attempts=0"),
        ({"a.b": {"timeout": 0}}, "timeout=0"),
        ({"a.b": {"backoff": []}}, "backoff=[]"),
        ({"a.b": {"unique": 1}}, "unique=1"),
        ({"a.b": {"unique": Unique(until="expired")}}, "needs a finite ttl"),
        ({"a.b": {"running_lock": "x"}}, "running_lock='x'"),
        ({"a.b": {"retry_on": "x"}}, "retry_on='x' must be an exception class"),
        ({"a.b": {"fail_on": (1,)}}, "fail_on=(1,)"),
    ],
)
def test_task_options_refuse_what_the_decorator_refuses(value: object, words: str) -> None:
    assert words in refusal(TASK_OPTIONS=value)


def test_the_ttl_of_the_settings_serves_a_task_s_rule() -> None:
    read(UNIQUE_TTL=60, TASK_OPTIONS={"a.b": {"unique": Unique(until="expired")}})


def test_every_fault_of_task_options_is_named() -> None:
    text = refusal(TASK_OPTIONS={"a.b": {"timeout": 0, "max_attempts": 0}, "c.d": {"unique": 1}})
    assert len(text.splitlines()) == 3
