"""What a monitoring system sees: requests, where their time went, queues, denials, cache hits, and the worker.

Labels are names of operations and outcomes, never spaces, keys or anything of a memory: neither would be private, and
both would grow without bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from retentive.stores.protocol import CountedStore

if TYPE_CHECKING:
    from retentive.server.pools import Pool

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
STAGE_SECONDS: Final = (0.0001, 0.00025, *SECONDS)
RUN_SECONDS: Final = (0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900)
STAGES: Final = ("body", "queue", "check", "work", "encode")
"""Where a request's time goes, in order: its body arrives, it waits for a thread, is checked, worked on, written."""


class Metrics:
    """The figures of one server; another one in the same process has its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "retentive_requests", "Requests answered.", ("operation", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "retentive_request_seconds",
            "From the request to the last byte handed over.",
            ("operation",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.stages = Histogram(
            "retentive_stage_seconds",
            "Where a request's time went.",
            ("operation", "stage"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.recall_stages = Histogram(
            "retentive_recall_stage_seconds",
            "Where a recall's time went.",
            ("stage",),
            buckets=STAGE_SECONDS,
            registry=self.registry,
        )
        self.denials = Counter(
            "retentive_denials", "Requests refused at the door or by a right.", ("reason",), registry=self.registry
        )
        self.caches = Counter(
            "retentive_cache", "What was found ready, and what was not.", ("cache", "found"), registry=self.registry
        )
        self.hits = Histogram(
            "retentive_recall_hits",
            "Memories in an answer.",
            buckets=(0, 1, 2, 3, 5, 10, 20, 50),
            registry=self.registry,
        )
        self._of_worker()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

    def _of_worker(self) -> None:
        self.runs = Counter(
            "retentive_worker_runs", "Work done on a schedule.", ("task", "outcome"), registry=self.registry
        )
        self.run_seconds = Histogram(
            "retentive_worker_run_seconds",
            "How long a task took in one space.",
            ("task",),
            buckets=RUN_SECONDS,
            registry=self.registry,
        )
        self.last_round = Gauge(
            "retentive_worker_last_round_timestamp_seconds",
            "When a task last went through all spaces.",
            ("task",),
            registry=self.registry,
        )
        self.jobs = Gauge(
            "retentive_jobs",
            "Jobs of the durable queues, of all spaces, when the worker last went through them.",
            ("state",),
            registry=self.registry,
        )

    def watch(self, pools: Iterable[Pool]) -> None:
        """Show the queues of these pools."""
        self.registry.register(_Queues(tuple(pools)))

    def stage_of_recall(self, stage: str, seconds: float) -> None:
        """Note how long a stage of a recall took."""
        self.recall_stages.labels(stage).observe(seconds)

    def watch_store(self, store: object) -> None:
        """Show how often what a store keeps at hand sufficed, where it counts that."""
        if isinstance(store, CountedStore):
            self.registry.register(_StoreCaches(store))

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)


class _Queues:
    """Reads the pools when it is asked."""

    def __init__(self, pools: tuple[Pool, ...]) -> None:
        self._pools = pools

    def collect(self) -> Iterable[Metric]:
        """Return how many requests wait, and how many are worked on."""
        waiting = GaugeMetricFamily("retentive_queue_depth", "Requests waiting for a thread.", labels=["lane"])
        working = GaugeMetricFamily("retentive_working", "Requests being worked on.", labels=["lane"])
        for pool in self._pools:
            waiting.add_metric([pool.name], pool.waiting)
            working.add_metric([pool.name], pool.working)
        return [waiting, working]


class _StoreCaches:
    """Reads a store's counts when it is asked."""

    def __init__(self, store: CountedStore) -> None:
        self._store = store

    def collect(self) -> Iterable[Metric]:
        """Return how often each cache was looked into, and what was found there."""
        looks = CounterMetricFamily(
            "retentive_store_cache", "Looks into what the store keeps at hand.", labels=["cache", "found"]
        )
        for (cache, found), count in sorted(self._store.counts().items()):
            looks.add_metric([cache, found], count)
        return [looks]
