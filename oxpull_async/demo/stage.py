"""Play the demo: server, workers, one request, the totals, and the count they must equal."""

import asyncio
import warnings
from pathlib import Path
from time import perf_counter

import httpx

from oxpull_async.demo.failed import DemoFailed
from oxpull_async.demo.follow import Follow
from oxpull_async.demo.modules import Totals, add_up, find_sources, module_name, read_module
from oxpull_async.demo.plan import Plan
from oxpull_async.demo.report import Report
from oxpull_async.demo.screen import Screen
from oxpull_async.demo.serve import served
from oxpull_async.demo.tasks import ox
from oxpull_async.demo.watch import Watch, forget
from oxpull_async.demo.web import app
from oxpull_async.demo.workers import THREADS, WorkerProcess, working

ANSWER_TIMEOUT = 60.0


async def play(plan: Plan, screen: Screen, folder: Path) -> Report:
    """Play the demo once and leave nothing of it in the database but the tables.

    Raises: DemoFailed, or what the database says.
    """
    async with ox:
        applied = await ox.migrate()
        screen.say("database", ox.database.label + (f", migrated: {', '.join(applied)}" if applied else ""))
        async with served(app, plan.port) as address:
            screen.say("server", f"Starlette at {address}")
            return await _with_workers(plan, screen, folder, address)


async def _with_workers(plan: Plan, screen: Screen, folder: Path, address: str) -> Report:
    ids: list[str] = []
    workers: list[WorkerProcess] = []
    try:
        async with working(plan.workers, folder) as workers:
            pids = ", ".join(str(worker.process.pid) for worker in workers)
            screen.say("workers", f"{len(workers)} processes of {THREADS} threads (pid {pids})")
            watch = await _post(plan, screen, address)
            ids += [*watch.files, watch.totals]
            killed = await Follow(watch, workers, screen).run(kills=plan.kills)
        counted = await _count_again(plan, screen)
    finally:
        await forget(ids, [worker.worker_id for worker in workers if worker.worker_id])
    failures = [f"task {one.id} ({one.task_path}) is {one.status}" for one in watch.failures()]
    return Report(str(plan.root), watch.result(), counted, watch.seconds(), len(ids), failures, killed)


async def _post(plan: Plan, screen: Screen, address: str) -> Watch:
    """Have the application enqueue everything, as any client of it would."""
    wanted = {"root": str(plan.root), "limit": plan.limit, "pace": plan.pace}
    began = perf_counter()
    async with httpx.AsyncClient(base_url=address, timeout=ANSWER_TIMEOUT, trust_env=False) as client:
        answer = await client.post("/index", json=wanted)
    if answer.status_code != httpx.codes.ACCEPTED:
        raise DemoFailed(f"The application answered {answer.status_code}: {answer.text}")
    told = answer.json()
    took, count = perf_counter() - began, len(told["files"])
    screen.say("request", f"POST /index: {count:,} tasks and one that adds them up, stored in {took:.2f} s")
    return Watch(told["files"], told["totals"])


async def _count_again(plan: Plan, screen: Screen) -> Totals:
    """Count the same files here, without tasks; the loop stays free, so that Ctrl-C is heard."""
    sources = find_sources(plan.root, plan.limit)
    with screen.bars(["recount"], len(sources)) as bars, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        facts = []
        for path in sources:
            facts.append(read_module(path, module_name(plan.root, path)))
            bars.show([len(facts)], [""])
            await asyncio.sleep(0)
    return add_up(facts)
