"""Declaring tasks: what is accepted works, and what is not is refused where it is written."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from oxpull_async import Oxpull
from oxpull_async.errors import InvalidTask, UsageError
from tests.app.kit import add, subtract


@pytest.fixture
def ox(tmp_path: Path) -> Oxpull:
    return Oxpull(f"sqlite:///{tmp_path / 'tasks.db'}", queues=["default", "mail"], max_attempts=4, timeout=9)


def test_a_task_has_the_path_of_its_function_and_the_settings_of_its_oxpull(ox: Oxpull) -> None:
    task = ox.task(add)
    assert (task.path, task.options.max_attempts, task.options.timeout) == ("tests.app.kit.add", 4, 9.0)
    assert ox.tasks == {"tests.app.kit.add": task}
    assert repr(task) == "<Task tests.app.kit.add on queue 'default'>"


def test_what_a_declaration_says_goes_before_the_settings(ox: Oxpull) -> None:
    task = ox.task(queue_name="mail", priority=-100, max_attempts=1, timeout=None)(add)
    options = task.options
    assert (options.queue_name, options.priority, options.max_attempts, options.timeout) == ("mail", -100, 1, None)


@pytest.mark.parametrize("name", ["rate_limit", "run_after", "schedule", "queue"])
def test_F6_an_option_of_a_later_version_or_of_none_is_a_type_error(ox: Oxpull, name: str) -> None:
    options: dict[str, Any] = {name: True}
    with pytest.raises(TypeError, match=rf"task\(\) got an unexpected keyword argument '{name}'"):
        ox.task(**options)(add)
    assert ox.tasks == {}


@pytest.mark.parametrize("name", ["rate_limit", "backoff"])
def test_F6_using_and_remote_take_what_they_can_keep_and_no_more(ox: Oxpull, name: str) -> None:
    options: dict[str, Any] = {name: True}
    with pytest.raises(TypeError, match=rf"using\(\) got an unexpected keyword argument '{name}'"):
        ox.task(add).using(**options)
    with pytest.raises(TypeError, match=rf"remote\(\) got an unexpected keyword argument '{name}'"):
        ox.remote("shop.tasks.send", **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"priority": 101}, "priority=101 must be a whole number from -100 to 100"),
        ({"priority": True}, "priority=True must be a whole number"),
        ({"priority": 1.0}, "priority=1.0 must be a whole number"),
        ({"max_attempts": 0}, "max_attempts=0 must be a whole number from 1"),
        ({"timeout": 0}, "timeout=0 would end every attempt at once: pass math.inf"),
        ({"timeout": -1}, "timeout=-1 is out of range"),
        ({"timeout": 10**400}, "is out of range"),
        ({"timeout": "5"}, "timeout='5' is no duration: pass seconds"),
        ({"queue_name": ""}, "queue_name='' must be text of 1 to 128 characters"),
        ({"queue_name": "other"}, "queue_name='other' is not one of the declared queues: default, mail"),
        ({"retry_on": "ValueError"}, "retry_on='ValueError' must be an exception class or a tuple"),
        ({"backoff": "fast"}, "backoff='fast'"),
    ],
)
def test_an_option_out_of_range_names_value_rule_and_way_out(ox: Oxpull, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidTask) as refused:
        ox.task(**options)(add)
    assert words in str(refused.value)


def test_a_moment_without_a_zone_is_refused(ox: Oxpull) -> None:
    with pytest.raises(InvalidTask, match=r"has no time zone: pass an aware datetime"):
        ox.task(add).using(run_after=datetime(2030, 1, 1))  # noqa: DTZ001 - the mistake under test


def test_a_task_is_declared_on_one_of_the_queues(tmp_path: Path) -> None:
    ox = Oxpull(f"sqlite:///{tmp_path / 'tasks.db'}", queues=["mail"])
    with pytest.raises(InvalidTask, match="queue_name='default' is not one of the declared queues: mail"):
        ox.task(add)


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("function", [generator, async_generator, partial(add, 1), Path, 5])
def test_only_a_function_that_returns_one_value_is_a_task(ox: Oxpull, function: Any) -> None:
    with pytest.raises(InvalidTask):
        ox.task(function)


def test_a_task_that_takes_a_context_has_a_place_for_it(ox: Oxpull) -> None:
    def without() -> None:
        pass

    declare: Any = ox.task(takes_context=True)
    with pytest.raises(InvalidTask, match=r"without takes no context: declare it `def without\(context, …\)`"):
        declare(without)


@pytest.mark.parametrize("path", ["send", "", "shop..send", "shop.tasks.send invoice", ".send", "shop.tasks."])
def test_a_remote_task_has_a_dotted_path(ox: Oxpull, path: str) -> None:
    with pytest.raises(InvalidTask, match=r"is no dotted path to a task, like 'shop\.tasks\.send_invoice'"):
        ox.remote(path)


def test_a_remote_task_cannot_be_called(ox: Oxpull) -> None:
    with pytest.raises(InvalidTask, match="is known by name only here, so it can be enqueued but not called"):
        ox.remote("shop.tasks.send")(1)


@pytest.mark.asyncio
async def test_a_function_that_is_no_task_is_refused_at_enqueue(ox: Oxpull) -> None:
    not_a_task: Any = subtract
    with pytest.raises(InvalidTask, match=r"is no task: pass one made by @ox\.task or ox\.remote"):
        await ox.enqueue(not_a_task, 1, 2)


def test_no_url_is_an_error_that_says_how_to_give_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OXPULL_DATABASE_URL", raising=False)
    with pytest.raises(UsageError, match=r"pass a URL to Oxpull\(…\) or set OXPULL_DATABASE_URL"):
        Oxpull()


def test_the_url_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OXPULL_DATABASE_URL", f"sqlite:///{tmp_path / 'tasks.db'}")
    assert repr(Oxpull()) == f"<Oxpull sqlite:///{tmp_path / 'tasks.db'}>"


@pytest.mark.parametrize(
    ("url", "settings", "words"),
    [
        ("sqlite:///never.db", {"pool_size": 0}, "pool_size='0': give a whole number"),
        ("sqlite:///never.db", {"pool_size": "many"}, "pool_size='many': give a whole number"),
        ("postgresql://localhost/x", {"pooler": "statement"}, "pooler='statement': choose one of session, transaction"),
        ("sqlite:///never.db", {"pooler": "transaction"}, "The URL option pooler is not one of sqlite"),
        ("mysql://localhost/x", {"listen_url": "mysql://localhost/x"}, "The URL option listen_url is not one of mysql"),
    ],
)
def test_a_setting_that_the_database_cannot_have_is_refused(url: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        Oxpull(url, **settings)
    assert words in str(refused.value)


@pytest.mark.parametrize("url", ["sqlite:///never.db", "mysql://localhost/x"])
def test_a_default_that_is_spelled_out_is_no_mistake(url: str) -> None:
    settings: Any = {"pooler": "session", "listen_url": None, "pool_size": 10}
    assert repr(Oxpull(url, **settings)).startswith("<Oxpull ")


def test_the_password_of_a_url_is_shown_nowhere() -> None:
    ox = Oxpull("postgresql://ann:s3cr3t@db.example/x?application_name=a", listen_url="postgresql://ann:0ther@db/x")
    assert "ann:***@db.example" in repr(ox)
    for text in (repr(ox), str(ox), ox.database.label, repr(ox.database)):
        assert "s3cr3t" not in text
        assert "0ther" not in text
    with pytest.raises(UsageError) as refused:
        Oxpull("postgresql://ann:s3cr3t@db.example:port/x")
    assert "s3cr3t" not in str(refused.value)
