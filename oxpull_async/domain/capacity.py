"""How much a worker may claim: places, threads, and what it should leave to others."""

from dataclasses import dataclass

UNSETTLED_PER_PLACE = 4
LEAST_UNSETTLED = 1000


@dataclass(frozen=True, slots=True)
class Load:
    """What a worker process is busy with.

    `queued` functions wait for a thread, the last claim `met_functions`, what is claimed `must_begin` at once where due
    rows have running locks or limit keys; `budget` None has no end.
    """

    concurrency: int
    busy: int
    unsettled: int
    threads: int
    free_threads: int
    queued: int
    met_functions: bool
    must_begin: bool
    budget: int | None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the next claim may take.

    `limit` rows; plain functions too if `functions`, and those begin at once if `at_once`.
    """

    limit: int
    functions: bool
    at_once: bool


def allowance(load: Load) -> Allowance:
    """Decide what the next claim may take: what starts soon, at once among locks and limits.

    Nothing while outcomes pile up faster than they are written.
    """
    limit = load.concurrency - load.busy
    if load.budget is not None:
        limit = min(limit, load.budget)
    if load.unsettled >= max(load.concurrency * UNSETTLED_PER_PLACE, LEAST_UNSETTLED):
        limit = 0
    functions = load.queued == 0 and load.free_threads > 0
    if functions and load.met_functions:
        limit = min(limit, load.free_threads + (0 if load.must_begin else load.threads))
    return Allowance(max(limit, 0), functions, at_once=limit <= load.free_threads)
