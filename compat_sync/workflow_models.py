"""Stored workflows, nodes and edges as the ORM reads them; `models` names them for Django."""

from datetime import datetime
from uuid import UUID

from django.db import models

from compat_sync.columns import StoredJSONField
from compat_sync.managers import ReadQuerySet, manager_of
from compat_sync.read_model import ReadModel
from oxpull_async.domain.workflow import EdgeState, OnFailure, WorkflowStatus

__all__ = ["OxpullWorkflow", "OxpullWorkflowCounts", "OxpullWorkflowEdge", "OxpullWorkflowNode"]

type _Id = models.UUIDField[UUID, UUID]
type _Text = models.CharField[str, str]
type _MaybeText = models.CharField[str | None, str | None]
type _MaybeSmall = models.SmallIntegerField[int | None, int | None]
type _Whole = models.IntegerField[int, int]
type _MaybeWhole = models.IntegerField[int | None, int | None]
type _Flag = models.BooleanField[bool, bool]
type _Instant = models.DateTimeField[datetime, datetime]
type _MaybeInstant = models.DateTimeField[datetime | None, datetime | None]

WORKFLOW_STATUSES = [(status.value, status.value.capitalize()) for status in WorkflowStatus]
ON_FAILURE = [(word.value, word.value.capitalize()) for word in OnFailure]
EDGE_STATES = [(state.value, state.value.capitalize()) for state in EdgeState]


class OxpullWorkflow(ReadModel):
    """A workflow: what its maker gave it, and how many nodes were added."""

    id: _Id = models.UUIDField(primary_key=True)
    backend_alias: _Text = models.CharField(max_length=128)
    name: _Text = models.CharField(max_length=128)
    nodes: _Whole = models.IntegerField()
    callbacks = StoredJSONField()
    created_at: _Instant = models.DateTimeField()
    expires_at: _MaybeInstant = models.DateTimeField(null=True)
    sealed_at: _MaybeInstant = models.DateTimeField(null=True)

    objects = manager_of(ReadQuerySet["OxpullWorkflow"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_workflow"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("-id",)
        verbose_name = "workflow"
        verbose_name_plural = "workflows"

    def __str__(self) -> str:
        """Name the workflow and its row."""
        return f"{self.name} {self.id}"


class OxpullWorkflowCounts(ReadModel):
    """How far a workflow is: its status, and what its ended nodes are counted as."""

    workflow_id: _Id = models.UUIDField("workflow", primary_key=True)
    status: _Text = models.CharField(max_length=8, choices=WORKFLOW_STATUSES)
    total: _MaybeWhole = models.IntegerField(null=True)
    succeeded: _Whole = models.IntegerField()
    failed: _Whole = models.IntegerField()
    unattributed: _Whole = models.IntegerField()
    cancelled: _Flag = models.BooleanField()
    completed_at: _MaybeInstant = models.DateTimeField(null=True)
    unique_key: _MaybeText = models.CharField(max_length=64, null=True)  # noqa: DJ001 - NULL is what the core stores

    objects = manager_of(ReadQuerySet["OxpullWorkflowCounts"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_workflow_counts"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("-workflow_id",)
        verbose_name = "workflow counts"
        verbose_name_plural = "workflow counts"

    def __str__(self) -> str:
        """Name the workflow and its status."""
        return f"{self.workflow_id} ({self.status})"


class OxpullWorkflowNode(ReadModel):
    """A task of a workflow.

    How many edges hold it back, and what it is counted as once it has ended.
    """

    task_id: _Id = models.UUIDField("task", primary_key=True)
    workflow_id: _Id = models.UUIDField("workflow")
    name: _Text = models.CharField(max_length=128)
    unmet: _Whole = models.IntegerField()
    counted: _MaybeText = models.CharField(max_length=12, null=True)  # noqa: DJ001
    cascaded: _Flag = models.BooleanField()
    recheck: _MaybeSmall = models.SmallIntegerField(null=True)

    objects = manager_of(ReadQuerySet["OxpullWorkflowNode"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_workflow_node"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("task_id",)
        verbose_name = "workflow node"
        verbose_name_plural = "workflow nodes"

    def __str__(self) -> str:
        """Name the node and the workflow."""
        return f"{self.name} of {self.workflow_id}"


class OxpullWorkflowEdge(ReadModel):
    """Between two nodes: the second waits for the first, and may have to do without."""

    pk = models.CompositePrimaryKey("upstream_id", "downstream_id")
    upstream_id: _Id = models.UUIDField("upstream task")
    downstream_id: _Id = models.UUIDField("downstream task")
    on_failure: _Text = models.CharField(max_length=8, choices=ON_FAILURE)
    state: _MaybeText = models.CharField(max_length=8, null=True, choices=EDGE_STATES)  # noqa: DJ001

    objects = manager_of(ReadQuerySet["OxpullWorkflowEdge"])

    class Meta:
        """The table and its names."""

        managed = False
        db_table = "oxpull_workflow_edge"
        base_manager_name = "objects"
        default_permissions = ("view",)
        ordering = ("upstream_id", "downstream_id")
        verbose_name = "workflow edge"
        verbose_name_plural = "workflow edges"

    def __str__(self) -> str:
        """Name both tasks, and what the edge has come to."""
        return f"{self.upstream_id} to {self.downstream_id} ({self.state or 'open'})"
