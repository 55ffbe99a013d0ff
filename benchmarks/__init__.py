"""Workloads that `oxpull bench` measures: one file each, named in the order in which they are shown."""

from benchmarks import (
    backlog,
    bulk,
    claim,
    concurrent,
    drain,
    groups,
    idle,
    latency,
    naps,
    sequential,
    snapshot,
    unique,
    workflows,
)  # fmt: skip
from benchmarks.workload import Workload

WORKLOADS: tuple[Workload, ...] = (
    *sequential.WORKLOADS,
    *concurrent.WORKLOADS,
    *bulk.WORKLOADS,
    *unique.WORKLOADS,
    *drain.WORKLOADS,
    *naps.WORKLOADS,
    *latency.WORKLOADS,
    *claim.WORKLOADS,
    *backlog.WORKLOADS,
    *snapshot.WORKLOADS,
    *groups.WORKLOADS,
    *workflows.WORKLOADS,
    *idle.WORKLOADS,
)
