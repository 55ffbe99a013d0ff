"""Workloads that `oxpull bench` measures: one file each, named in the order in which they are shown."""

from benchmarks import bulk, claim, concurrent, drain, latency, sequential
from benchmarks.workload import Workload

WORKLOADS: tuple[Workload, ...] = (
    *sequential.WORKLOADS,
    *concurrent.WORKLOADS,
    *bulk.WORKLOADS,
    *drain.WORKLOADS,
    *latency.WORKLOADS,
    *claim.WORKLOADS,
)
