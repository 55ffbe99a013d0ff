"""Django tasks for workflows: nodes that succeed, fail as told, or read what came before them."""

from typing import Any

from django.tasks import TaskContext, task

from tests.compat.shop import ours

TOLD: list[tuple[Any, ...]] = []
FAILING: set[str] = set()


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def step(name: str) -> str:
    """Note that it ran, and fail where the test wants it to."""
    TOLD.append(("ran", name))
    if name in FAILING:
        raise ValueError(name)
    return name.upper()


@ours
@task(takes_context=True)
def join(context: "TaskContext[Any, Any]") -> dict[str, Any]:
    """Return what the upstreams came to."""
    found = context.upstream_results()  # type: ignore[attr-defined] # ours
    return {name: [upstream.status, upstream.value] for name, upstream in found.items()}


@ours
@task(takes_context=True)
async def ajoin(context: "TaskContext[Any, Any]") -> dict[str, Any]:
    """Return what the upstreams came to."""
    found = await context.aupstream_results()  # type: ignore[attr-defined] # ours
    return {name: [upstream.status, upstream.value] for name, upstream in found.items()}


@ours
@task
def told(*words: str) -> None:
    """Note that it was told."""
    TOLD.append(("told", *words))
