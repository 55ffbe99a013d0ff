"""The async calls of workflows: below a sync caller on its connection, else by the native driver."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.tasks import task_backends

from compat_sync import workflows
from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import AlreadyEnqueued, UnknownWorkflowNode
from compat_sync.models import OxpullWorkflow
from compat_sync.testing import run_tasks
from compat_sync.workflows import Node
from tests.compat import flowing
from tests.compat.flowing import TOLD


@pytest.fixture(autouse=True)
def _nothing_told() -> Iterator[None]:
    TOLD.clear()
    yield
    TOLD.clear()


async def build_async() -> UUID:
    """Make a workflow by the async calls."""
    flow = await workflows.acreate("async", on_success=flowing.told, on_success_args=["done"])
    await flow.aadd("root", flowing.step, "root")
    await flow.aadd_many([Node("end", flowing.ajoin, depends_on="root")])
    assert (await flow.anode_ids()).keys() == {"root", "end"}
    await flow.aseal()
    again = await workflows.aget(flow.id)
    assert (await again.aprogress()).blocked == 1
    return flow.id


async def build_block() -> UUID:
    """Make a workflow in a block."""
    async with workflows.aworkflow("async", on_success=flowing.told, on_success_args=["done"]) as flow:
        await flow.aadd("root", flowing.step, "root")
        await flow.aadd("end", flowing.ajoin, depends_on="root")
    return flow.id


@pytest.mark.parametrize("build", [build_async, build_block])
def test_E1_below_a_sync_caller_the_async_calls_join_its_transaction(site: str, build: Any) -> None:
    with transaction.atomic(using=site):
        workflow_id = async_to_sync(build)()
        assert workflows.get(workflow_id).progress().total == 2
        transaction.set_rollback(True, using=site)
    assert not OxpullWorkflow.objects.exists()


@pytest.mark.parametrize("build", [build_async, build_block])
def test_E1_without_a_sync_caller_the_async_calls_go_native(site: str, build: Any) -> None:
    async def run() -> UUID:
        backend = task_backends["default"]
        assert isinstance(backend, OxpullBackend)
        try:
            gone = await workflows.acreate("gone", unique="x")
            with pytest.raises(AlreadyEnqueued):
                await workflows.acreate("gone", unique="x")
            assert await gone.acancel()
            with pytest.raises(UnknownWorkflowNode):
                await gone.aretry_from("nothing")
            assert await gone.aadd_many([]) == []
            found: UUID = await build()
            return found
        finally:
            await backend.ox.close()

    workflow_id = asyncio.run(run())
    while run_tasks():
        pass
    assert workflows.get(workflow_id).status == "COMPLETE"
    assert TOLD == [("ran", "root"), ("told", "done")]
