"""Follow a run to its totals, and kill a worker half-way when asked to."""

import asyncio
import time
from collections.abc import Sequence

from oxpull_async.demo.failed import DemoFailed
from oxpull_async.demo.report import Killed
from oxpull_async.demo.screen import Bars, Screen
from oxpull_async.demo.watch import Watch
from oxpull_async.demo.workers import WorkerProcess

POLL, STALLED = 0.1, 60.0


class Follow:
    """Looks at the tasks until their totals are there, and shows what it sees."""

    def __init__(self, watch: Watch, workers: Sequence[WorkerProcess], screen: Screen) -> None:
        self._watch = watch
        self._workers = workers
        self._screen = screen
        self._victim: WorkerProcess | None = None
        self._held: list[str] = []
        self._killed_after = 0
        self._moved = (0, time.monotonic())

    async def run(self, *, kills: bool) -> Killed | None:
        """Follow to the end; with `kills`, one worker gets SIGKILL when half of the files are done.

        Raises: DemoFailed when a worker ends by itself or nothing moves any more.
        """
        labels = ["all files", *(f"worker {worker.number}" for worker in self._workers)]
        with self._screen.bars(labels, len(self._watch.files)) as bars:
            while not self._watch.is_over:
                await self._watch.look()
                self._show(bars)
                self._check()
                is_half_done = 2 * self._watch.done >= len(self._watch.files)
                if kills and self._victim is None and is_half_done and self._watch.running:
                    await self._kill()
                if not self._watch.is_over:
                    await asyncio.sleep(POLL)
        return self._told_end()

    async def _kill(self) -> None:
        """Kill the worker that holds most, and read what it held when it died."""
        victim = self._victim = max(self._workers, key=lambda worker: len(self._watch.held_by(worker.worker_id)))
        await victim.kill()
        await self._watch.look()
        self._held = self._watch.held_by(victim.worker_id)
        self._killed_after = self._watch.done
        done = f"after {self._watch.done:,} of {len(self._watch.files):,} files"
        self._screen.say("kill -9", f"{victim} {done}; it held {len(self._held)} tasks")

    def _told_end(self) -> Killed | None:
        if self._victim is None:
            return None
        victim, held = self._victim, len(self._held)
        taken_over = self._watch.taken_over(self._held, victim.worker_id)
        self._screen.say("takeover", f"{taken_over} of the {held} tasks that died with it were run by another worker")
        return Killed(pid=victim.process.pid, after=self._killed_after, held=held, taken_over=taken_over)

    def _show(self, bars: Bars) -> None:
        done = self._watch.done_by()
        counts = [self._watch.done, *(done[worker.worker_id] for worker in self._workers)]
        bars.show(counts, ["", *(self._state(worker) for worker in self._workers)])

    def _state(self, worker: WorkerProcess) -> str:
        holds = len(self._watch.held_by(worker.worker_id))
        if worker.killed:
            return f"killed, {holds} tasks wait for lease" if holds else "killed"
        return f"{holds} running" if holds else "idle"

    def _check(self) -> None:
        for worker in self._workers:
            worker.check()
        done, since = self._moved
        now = time.monotonic()
        if done != len(self._watch.ended):
            self._moved = (len(self._watch.ended), now)
        elif now - since > STALLED:
            raise DemoFailed(f"No task has ended for {STALLED:.0f} s: {self._watch.done:,} files are done.")
