"""The shim: core coroutines run to their end on the caller's thread, or say which await kept them."""

import ast
import asyncio
import contextvars
import gc
import traceback
from pathlib import Path

import pytest

from compat_sync.shim import CoreSuspended, WrongWorld, run_blocking
from oxpull_async.domain.errors import OxpullError, UsageError

ROOT = Path(__file__).parents[2]
SHIM = "compat_sync/shim.py"


class Trouble(Exception):
    pass


async def doubled(number: int) -> int:
    return 2 * number


async def innermost() -> None:
    await asyncio.sleep(0)


async def nested() -> None:
    await innermost()


def test_a_coroutine_s_result_is_returned() -> None:
    async def deep(levels: int) -> int:
        return levels if levels == 0 else 1 + await deep(levels - 1)

    assert run_blocking(doubled(21)) == 42
    assert run_blocking(deep(50)) == 50


def test_a_coroutine_s_error_arrives_as_it_is() -> None:
    trouble = Trouble("as it is")

    async def fail() -> None:
        raise trouble

    with pytest.raises(Trouble) as caught:
        run_blocking(fail())
    assert caught.value is trouble


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_errors_that_are_no_exceptions_run_the_clean_up_and_arrive(error: type[BaseException]) -> None:
    cleaned: list[bool] = []

    async def fail() -> None:
        try:
            raise error
        finally:
            cleaned.append(True)

    with pytest.raises(error):
        run_blocking(fail())
    assert cleaned == [True]


def test_a_wait_is_reported_with_the_way_to_it() -> None:
    with pytest.raises(CoreSuspended, match="nested waited on None") as caught:
        run_blocking(nested())
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert {"nested", "innermost"} <= set(names)


def test_a_future_is_reported_by_name() -> None:
    loop = asyncio.new_event_loop()
    future = loop.create_future()

    async def wait() -> None:
        await future

    with pytest.raises(CoreSuspended, match="waited on <Future pending"):
        run_blocking(wait())
    loop.close()


def test_core_code_cannot_swallow_the_complaint() -> None:
    async def swallow() -> str:
        try:
            await asyncio.sleep(0)
        except Exception:  # noqa: BLE001 - as careless code would
            return "all is well"
        return "never"

    with pytest.raises(CoreSuspended):
        run_blocking(swallow())


def test_core_code_cannot_turn_the_complaint_into_another_error() -> None:
    async def convert() -> None:
        try:
            await asyncio.sleep(0)
        except OxpullError as error:
            raise Trouble from error

    with pytest.raises(CoreSuspended):
        run_blocking(convert())


def test_core_code_that_waits_again_and_again_is_given_up() -> None:
    async def stubborn() -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(0)
            except BaseException:  # noqa: BLE001, S112 - the worst that code can do
                continue

    operation = stubborn()
    with pytest.raises(CoreSuspended):
        run_blocking(operation)


def test_the_clean_up_of_a_coroutine_that_waited_has_run() -> None:
    cleaned: list[bool] = []

    async def tidy() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            cleaned.append(True)

    with pytest.raises(CoreSuspended):
        run_blocking(tidy())
    assert cleaned == [True]


def test_under_a_running_loop_nothing_runs_and_nothing_is_left_behind() -> None:
    ran: list[bool] = []

    async def core() -> None:
        ran.append(True)

    async def view() -> None:
        with pytest.raises(WrongWorld, match="await the async twin"):
            run_blocking(core())
        gc.collect()

    asyncio.run(view())
    assert ran == []


def test_who_allows_django_to_block_a_loop_allows_the_shim_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

    async def notebook() -> int:
        return run_blocking(doubled(21))

    assert asyncio.run(notebook()) == 42


def test_a_thread_beside_a_running_loop_may_block() -> None:
    async def view() -> int:
        return await asyncio.to_thread(lambda: run_blocking(doubled(21)))

    assert asyncio.run(view()) == 42


def test_the_core_runs_in_the_caller_s_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("the caller's")

    async def look() -> str:
        return variable.get()

    assert run_blocking(look()) == "the caller's"


def test_the_complaint_is_a_bug_and_the_wrong_world_is_a_misuse() -> None:
    assert issubclass(CoreSuspended, OxpullError)
    assert issubclass(WrongWorld, UsageError)
    assert not issubclass(CoreSuspended, UsageError)


def senders(path: str, source: str) -> list[str]:
    """List the calls of a method `send` in a module that has coroutines or generators in mind."""
    return [
        f"{path}:{node.lineno}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "send"
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value is None
    ]


def test_only_the_shim_sends_into_a_coroutine() -> None:
    found = [
        place
        for package in ("oxpull_async", "compat_sync")
        for file in (ROOT / package).rglob("*.py")
        for place in senders(file.relative_to(ROOT).as_posix(), file.read_text())
    ]
    assert [place.partition(":")[0] for place in found] == [SHIM]


def test_the_check_sees_a_send() -> None:
    assert senders("a.py", "async def f(): ...\nf().send(None)") == ["a.py:2"]
    assert senders("a.py", "socket.send(data)\nsignal.send(sender=None)") == []
