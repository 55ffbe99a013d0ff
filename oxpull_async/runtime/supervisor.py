"""The supervisor: keeps a number of worker processes alive, and stops them together.

Every child has the reading end of one pipe as its standard input: when that ends, the supervisor is gone, however
it went, and the child is to drain by itself. Children are in process groups of their own, so that a terminal's
Ctrl-C reaches them once, through the supervisor.
"""

import asyncio
import logging
import os
import signal
import time
from asyncio.subprocess import Process
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from oxpull_async.runtime.recycler import EXIT_CODE

logger = logging.getLogger("oxpull_async.supervisor")

FIRST_PAUSE, LONGEST_PAUSE, RESET_AFTER = 0.5, 30.0, 60.0
AT_ONCE, MOST_AT_ONCE = 2.0, 5
INSIST_EVERY = 0.5
IN_ORDER = frozenset({0, EXIT_CODE, -signal.SIGTERM})
_SIGNALS = {number.value: number.name for number in signal.Signals}


@dataclass(frozen=True, slots=True)
class Charge:
    """What to run and how often; what takes longer than `stop_seconds` to stop is killed.

    A `tireless` charge is started anew every two seconds however often it fails, as while its code is being written.
    """

    command: Sequence[str]
    processes: int
    stop_seconds: float
    output: int | None = None
    tireless: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """How many children were started anew or ended in disorder, and why it gave up, if so."""

    restarts: int
    disorderly: int
    gave_up: str | None

    @property
    def is_success(self) -> bool:
        """Whether every child ended in order."""
        return not self.disorderly and self.gave_up is None


class Patience:
    """How long to wait before a failed child is started anew, and when to stop trying."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE
        self._at_once = 0

    @property
    def is_over(self) -> bool:
        """Whether the child failed again and again as soon as it was started."""
        return self._at_once >= MOST_AT_ONCE

    def after_failure(self, lived: float) -> float:
        """Return the seconds to wait: doubled each time, from anew after a minute of life."""
        if lived >= RESET_AFTER:
            self._pause = FIRST_PAUSE
        self._at_once = self._at_once + 1 if lived < AT_ONCE else 0
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        return pause


class Supervisor:
    """Runs `charge.processes` children on one event loop until all have ended."""

    def __init__(self, charge: Charge) -> None:
        self._charge = charge
        self._children: set[Process] = set()
        self._stopping = asyncio.Event()
        self._at_once = asyncio.Event()
        self._restarts = 0
        self._disorderly = 0
        self._gave_up: str | None = None

    def stop(self) -> None:
        """Ask all children to drain and start none anymore; a second call asks them to stop at once."""
        if self._stopping.is_set():
            self._at_once.set()
        if self._children:
            again = " at once" if self._at_once.is_set() else ""
            logger.info("stopping %d processes%s", len(self._children), again)
        self._stopping.set()
        for child in self._children:
            _send(child, signal.SIGTERM)

    async def run(self) -> Report:
        """Keep the children running until they end in order, are stopped, or fail without end."""
        with _lifeline() as reading_end:
            pushing = [asyncio.create_task(push) for push in (self._insist(), self._kill_late())]
            try:
                await asyncio.gather(*(self._keep(reading_end) for _ in range(self._charge.processes)))
            finally:
                for push in pushing:
                    push.cancel()
        return Report(self._restarts, self._disorderly, self._gave_up)

    async def _keep(self, lifeline: int) -> None:
        """Keep one child running."""
        patience = Patience()
        while not self._stopping.is_set():
            started = time.monotonic()
            code = await self._run_child(lifeline)
            lived = time.monotonic() - started
            if self._stopping.is_set():
                self._disorderly += code not in IN_ORDER
                return
            if code == 0:
                return
            if code == EXIT_CODE:
                patience, pause = Patience(), 0.0
            elif self._charge.tireless:
                pause = AT_ONCE
            else:
                pause = patience.after_failure(lived)
            if patience.is_over:
                self._give_up()
                return
            await self._rest(pause)

    async def _run_child(self, lifeline: int) -> int:
        charge = self._charge
        try:
            child = await asyncio.create_subprocess_exec(
                *charge.command, stdin=lifeline, stdout=charge.output, process_group=0
            )
        except OSError as error:
            logger.error("a process could not be started: %s", error)  # noqa: TRY400 - the sentence says it all
            return 1
        self._children.add(child)
        logger.info("process %d started", child.pid)
        if self._stopping.is_set():
            _send(child, signal.SIGTERM)
        code = await child.wait()
        self._children.discard(child)
        logger.log(logging.INFO if code in IN_ORDER else logging.WARNING, "process %d %s", child.pid, _reason(code))
        return code

    async def _rest(self, pause: float) -> None:
        self._restarts += 1
        if pause:
            logger.info("starting another process in %.1f s", pause)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._stopping.wait()

    def _give_up(self) -> None:
        self._gave_up = f"a process failed {MOST_AT_ONCE} times in a row within {AT_ONCE:.0f} s of its start"
        logger.error("%s: giving up", self._gave_up)
        self.stop()

    async def _insist(self) -> None:
        """Repeat the second signal until all have ended.

        Two signals are one to a process that did not run between them, and it would drain on.
        """
        await self._at_once.wait()
        while True:
            await asyncio.sleep(INSIST_EVERY)
            for child in self._children:
                _send(child, signal.SIGTERM)

    async def _kill_late(self) -> None:
        await self._stopping.wait()
        await asyncio.sleep(self._charge.stop_seconds)
        for child in self._children:
            logger.warning("process %d did not stop within %.0f s: killing it", child.pid, self._charge.stop_seconds)
            _send(child, signal.SIGKILL)


@contextmanager
def _lifeline() -> Iterator[int]:
    """Hold the writing end of a pipe, in this process only, and lend the reading end."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def _send(child: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        child.send_signal(number)


def _reason(code: int) -> str:
    if code == 0:
        return "ended in order"
    if code == EXIT_CODE:
        return "asks to be started anew"
    return f"was ended by {_SIGNALS.get(-code, -code)}" if code < 0 else f"failed with exit code {code}"
