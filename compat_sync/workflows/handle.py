"""A stored workflow, as sync and async code hold it."""

from uuid import UUID

from compat_sync.batches.places import awaited, blocking
from compat_sync.workflows.adding import NodeAdding, named
from oxpull_async.domain.workflow import WorkflowProgress
from oxpull_async.store import workflows as store
from oxpull_async.store.revival import retry_from

__all__ = ["Workflow"]


class Workflow(NodeAdding):
    """A stored workflow; what it holds is read when it is asked for.

    Where its row has gone, every call raises WorkflowDoesNotExist.
    """

    def __repr__(self) -> str:
        return f"<Workflow {self.id} {self.name!r}>"

    @property
    def id(self) -> UUID:
        """Its id, for `get`."""
        return UUID(self._record.id)

    @property
    def name(self) -> str:
        """The name that it was created with."""
        return self._record.name

    @property
    def status(self) -> str:
        """Read whether it is "OPEN", "SEALED" or "COMPLETE"."""
        return str(self.progress().status)

    def seal(self) -> None:
        """Take no more nodes, and let bad ends count; raises WorkflowSealed."""
        blocking(lambda conn: store.seal_workflow(conn, self._record.id))

    async def aseal(self) -> None:
        """Take no more nodes, as `seal` does."""
        await awaited(lambda conn: store.seal_workflow(conn, self._record.id))

    def progress(self) -> WorkflowProgress:
        """Read how far it is; raises WorkflowDoesNotExist."""
        return blocking(lambda conn: store.read_workflow(conn, self._record.id)).progress

    async def aprogress(self) -> WorkflowProgress:
        """Read how far it is; raises WorkflowDoesNotExist."""
        return (await awaited(lambda conn: store.read_workflow(conn, self._record.id))).progress

    def node_ids(self) -> dict[str, UUID]:
        """Read the ids of the nodes' tasks by the nodes' names."""
        found = blocking(lambda conn: store.node_ids(conn, self._record.id))
        return {name: UUID(id_) for name, id_ in found.items()}

    async def anode_ids(self) -> dict[str, UUID]:
        """Read the ids of the nodes' tasks by the nodes' names."""
        found = await awaited(lambda conn: store.node_ids(conn, self._record.id))
        return {name: UUID(id_) for name, id_ in found.items()}

    def cancel(self) -> bool:
        """Cancel the nodes that have not ended, and seal it; False when it is complete."""
        return blocking(lambda conn: store.cancel_workflow(conn, self._record.id))

    async def acancel(self) -> bool:
        """Cancel the workflow, as `cancel` does."""
        return await awaited(lambda conn: store.cancel_workflow(conn, self._record.id))

    def retry_from(self, node_name: str, *, callbacks: bool = False) -> int:
        """Run a node that ended badly once more, and what was discarded because of it.

        Its callbacks come again only with `callbacks`. Returns how many were revived; raises UnknownWorkflowNode.
        """
        start = named(node_name)
        return blocking(lambda conn: retry_from(conn, self._record.id, start, callbacks=callbacks))

    async def aretry_from(self, node_name: str, *, callbacks: bool = False) -> int:
        """Run a node and what was discarded because of it once more, as `retry_from` does."""
        start = named(node_name)
        return await awaited(lambda conn: retry_from(conn, self._record.id, start, callbacks=callbacks))
