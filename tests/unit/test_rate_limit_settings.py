"""Rate limits are read and checked where they are written."""

from datetime import timedelta
from typing import Any

import pytest

from oxpull_async import Oxpull, RateLimit, Retry
from oxpull_async.domain.errors import InvalidTask, UsageError
from oxpull_async.domain.rate_limit import LimitRule
from oxpull_async.domain.settings import Settings

SEND = "shop.tasks.send"


def send() -> None:
    pass


async def asynchronous(number: int) -> str:
    return f"{number}"


def limits(**settings: Any) -> tuple[LimitRule, ...]:
    return Settings.of({"rate_limits": settings}).rate_limits.rules


def one(**keywords: Any) -> RateLimit:
    said: dict[str, Any] = {"limit": 20, "per": 1, "tasks": [SEND]}
    return RateLimit(**said | keywords)


def test_the_seeds_form_and_our_objects_say_the_same() -> None:
    [written] = limits(api={"limit": 20, "per": 60, "tasks": [SEND], "queues": ["mail"]})
    [made] = limits(api=RateLimit(20, 60.0, tasks=[SEND], queues=["mail"]))
    assert written == made == LimitRule("api", 20, 60.0, frozenset({SEND}), frozenset({"mail"}))


def test_the_seeds_form_takes_what_ours_takes() -> None:
    def key(number: int) -> str:
        return f"{number}"

    [written] = limits(api={"limit": 1, "per": timedelta(minutes=1), "tasks": [SEND], "key": key, "sliding": True})
    assert (written.per, written.key, written.sliding) == (60.0, key, True)


def test_a_task_stands_for_its_path() -> None:
    ox = Oxpull("sqlite:///never.db")
    task = ox.task(send)
    [rule] = limits(api={"limit": 1, "per": 1, "tasks": [task, "shop.tasks.other"]})
    assert rule.tasks == {task.path, "shop.tasks.other"}


@pytest.mark.parametrize("per", [timedelta(seconds=0.6), timedelta(milliseconds=1), timedelta(days=366)])
def test_a_timedelta_is_taken_exactly(per: timedelta) -> None:
    assert limits(api={"limit": 1, "per": per, "tasks": [SEND]})[0].per == per.total_seconds()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"limit": 1, "tasks": [SEND]}, '"limit" and "per" must both be given'),
        ({"per": 1, "tasks": [SEND]}, '"limit" and "per" must both be given'),
        ({"limit": -1, "per": 1, "tasks": [SEND]}, "limit=-1"),
        ({"limit": True, "per": 1, "tasks": [SEND]}, "limit=True"),
        ({"limit": 1.0, "per": 1, "tasks": [SEND]}, "limit=1.0"),
        ({"limit": 1, "per": 0, "tasks": [SEND]}, "per=0"),
        ({"limit": 1, "per": True, "tasks": [SEND]}, "per=True"),
        ({"limit": 1, "per": 0.5, "tasks": [SEND]}, "per=0.5"),
        ({"limit": 1, "per": "1", "tasks": [SEND]}, "per='1'"),
        ({"limit": 1, "per": timedelta(0), "tasks": [SEND]}, "per=datetime.timedelta(0)"),
        ({"limit": 1, "per": timedelta(days=367), "tasks": [SEND]}, "to 366 days"),
        ({"limit": 1, "per": 1}, "neither tasks nor queues"),
        ({"limit": 1, "per": 1, "tasks": [], "queues": []}, "neither tasks nor queues"),
        ({"limit": 1, "per": 1, "tasks": SEND}, f"tasks='{SEND}' must be a list"),
        ({"limit": 1, "per": 1, "tasks": 5}, "tasks=5 must be a list"),
        ({"limit": 1, "per": 1, "tasks": ["send"]}, "tasks: 'send'"),
        ({"limit": 1, "per": 1, "tasks": [send]}, "is neither a task nor a dotted path"),
        ({"limit": 1, "per": 1, "tasks": ["a." + "x" * 255]}, "255 is the most"),
        ({"limit": 1, "per": 1, "queues": "mail"}, "queues='mail' must be a list"),
        ({"limit": 1, "per": 1, "queues": [5]}, "queue_name=5"),
        ({"limit": 1, "per": 1, "queues": [""]}, "queue_name=''"),
        ({"limit": 1, "per": 1, "tasks": [SEND], "rate": 5}, "unknown key 'rate'"),
        ({"limit": 1, "per": 1, "task": [SEND]}, "did you mean 'tasks'?"),
        ({"limit": 1, "per": 1, "tasks": [SEND], "sliding": 1}, "sliding=1"),
        ({"limit": 10_001, "per": 1, "tasks": [SEND], "sliding": True}, "10,000 is the most"),
        ({"limit": 1, "per": 1, "tasks": [SEND], "key": "x"}, "key='x' must be a function"),
        ({"limit": 1, "per": 1, "tasks": [SEND], "key": asynchronous}, "is a coroutine function"),
        (5, "5 must be a RateLimit"),
        (None, "None must be a RateLimit"),
        (RateLimit, "must be a RateLimit"),
    ],
)
def test_a_wrong_limit_is_refused_with_its_name_the_value_and_the_rule(wrong: Any, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        limits(api=wrong)
    assert "the rate limit 'api': " in str(refused.value)
    assert words in str(refused.value)


@pytest.mark.parametrize("wrong", [{"limit": 1}, {"limit": 1, "per": 0}, {"limit": 1, "per": float("nan")}])
def test_a_wrong_limit_of_ours_is_refused_where_it_is_made(wrong: Any) -> None:
    with pytest.raises((UsageError, TypeError)):
        RateLimit(**wrong, tasks=[SEND])


@pytest.mark.parametrize("wrong", [(), [], "api", 5, None])
def test_what_is_no_dict_of_limits_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"rate_limits=.* must be a dict of names to limits"):
        Settings.of({"rate_limits": wrong})


@pytest.mark.parametrize("name", ["", "x" * 129, "a\0", 5, None])
def test_a_name_is_text_of_1_to_128_characters(name: Any) -> None:
    with pytest.raises(UsageError, match="its name must be text of 1 to 128 characters"):
        Settings.of({"rate_limits": {name: one()}})
    assert Settings.of({"rate_limits": {"x" * 128: one()}}).rate_limits.rules


def test_names_that_differ_by_case_only_are_refused() -> None:
    with pytest.raises(UsageError, match="'Straße' and 'STRASSE' differ by case only"):
        limits(Straße=one(), STRASSE=one())


def test_a_queue_that_is_not_declared_is_refused_and_any_is_taken_where_none_is() -> None:
    with pytest.raises(UsageError, match=r"'api': queue_name='post' is not one of the declared queues: mail"):
        Settings.of({"queues": ["mail"], "rate_limits": {"api": one(queues=["post"])}})
    assert limits(api=one(queues=["post"]))[0].queues == {"post"}


def test_a_limit_of_0_and_the_largest_are_taken() -> None:
    assert [rule.limit for rule in limits(none=one(limit=0), many=one(limit=2_147_483_647))] == [0, 2_147_483_647]


def test_a_task_may_be_in_eight_limits_with_a_key_and_in_no_more() -> None:
    def key() -> str:
        return ""

    keyed = {f"limit {number}": one(key=key) for number in range(8)}
    assert len(limits(**keyed, plain=one(), elsewhere=one(tasks=["a.b"], key=key))) == 10
    with pytest.raises(UsageError, match=rf"{SEND} is in 9 limits with a key: 8 is the most"):
        limits(**keyed, last=one(key=key))
    with pytest.raises(UsageError, match=rf"{SEND} in queue 'mail' is in 9 limits with a key"):
        limits(**keyed, last=one(tasks=(), queues=["mail"], key=key))


@pytest.mark.parametrize("name", ["", "x" * 129, 5, True])
def test_Retry_slows_a_limit_down_by_a_name_that_a_limit_may_have(name: Any) -> None:
    with pytest.raises(UsageError, match="its name must be text"):
        Retry(after=5, slow_down=name)
    assert Retry(after=5, slow_down="api").slow_down == "api"
    assert Retry(after=5).slow_down is None


def test_a_key_function_that_cannot_take_the_arguments_is_refused_where_the_task_is_declared() -> None:
    limits = {"api": {"limit": 1, "per": 1, "queues": ["mail"], "key": lambda account: f"{account}"}}
    ox = Oxpull("sqlite:///never.db", rate_limits=limits)
    words = r"send, rate limit 'api': the key function .* cannot take the task's arguments"
    with pytest.raises(InvalidTask, match=words):
        ox.task(queue_name="mail")(send)
    task = ox.task(send)
    with pytest.raises(InvalidTask, match=words):
        task.using(queue_name="mail")
    assert ox.remote("shop.tasks.send", queue_name="mail").options.queue_name == "mail"
