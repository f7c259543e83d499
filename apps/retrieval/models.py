"""The tables of systems, runs and pools."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.corpus.models import BlockVersion, Snapshot
from apps.jobs.models import Job
from apps.queries.models import Query
from apps.retrieval.enums import IndexState, PoolKind, PoolState, Returns, RunState, SystemKind


class System(models.Model):
    """A system that makes rankings. Its configuration is its identity: `digest` covers kind and configuration."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="systems")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=20, choices=SystemKind.choices)
    config = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="system_name_in_project"),
            models.UniqueConstraint(fields=["project", "digest"], name="system_digest_in_project"),
            models.CheckConstraint(name="system_kind_is_known", condition=Q(kind__in=SystemKind.values)),
        ]

    def __str__(self) -> str:
        return self.name


class LoadedIndex(models.Model):
    """A snapshot's passages in an index of OpenSearch or Elasticsearch that Karat creates, fills and drops.

    `name` is made of the digests of the snapshot and of what else is in the index. `mark` is what the index there is
    recognised by: another one of the same name is never written to or dropped.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="loaded_indexes")
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="loaded_indexes")
    url = models.CharField(max_length=1_000, help_text="Address of the cluster.")
    auth = models.JSONField(default=dict, help_text="How requests sign in: the name of a secret, never its value.")
    name = models.CharField(max_length=80)
    mark = models.CharField(max_length=32)
    dense = models.ForeignKey(
        System, models.PROTECT, null=True, related_name="+", help_text="The system whose model makes the vectors."
    )
    state = models.CharField(max_length=10, choices=IndexState.choices, default=IndexState.LOADING)
    noted = models.PositiveIntegerField(default=0, help_text="Passages that the server has for certain.")
    server = models.CharField(max_length=20, blank=True, help_text="opensearch or elasticsearch, once it has answered.")
    server_version = models.CharField(max_length=40, blank=True)
    failure = models.TextField(blank=True)
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+", help_text="Loads it, or drops it.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    ready_at = models.DateTimeField(null=True)
    dropped_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "loaded indexes"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "url", "name"],
                condition=~Q(state=IndexState.DROPPED),
                name="loaded_index_once_at_an_address",
            ),
            models.CheckConstraint(name="loaded_index_state_is_known", condition=Q(state__in=IndexState.values)),
            models.CheckConstraint(
                name="loaded_index_ready_has_server_and_time",
                condition=~Q(state=IndexState.READY) | (Q(ready_at__isnull=False) & ~Q(server="")),
            ),
            models.CheckConstraint(
                name="loaded_index_dropped_has_time",
                condition=Q(state=IndexState.DROPPED, dropped_at__isnull=False)
                | (~Q(state=IndexState.DROPPED) & Q(dropped_at=None)),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """One execution of a system for a query set on a snapshot. A complete run never changes."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="runs")
    system = models.ForeignKey(System, models.PROTECT, related_name="runs")
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="runs")
    tag = models.CharField(max_length=120)
    depth = models.PositiveIntegerField(help_text="Most results stored for a query.")
    returns = models.CharField(
        max_length=10,
        choices=Returns.choices,
        default=Returns.BLOCKS,
        db_default=Returns.BLOCKS.value,
        help_text="Blocks of the snapshot, or passages that the system cut itself.",
    )
    abstains_below = models.FloatField(
        null=True, help_text="A query whose best score is below it gets no answer. Empty: only one without results."
    )
    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.PENDING)
    digest = models.CharField(max_length=64, blank=True, help_text="Over the rankings, once complete.")
    query_count = models.PositiveIntegerField(default=0)
    latency = models.JSONField(default=dict, help_text="Milliseconds: p50, p95, p99, mean; empty when unknown.")
    usage = models.JSONField(
        null=True, help_text="Requests, errors, timeouts, tokens and seconds of the whole run, where they are known."
    )
    note = models.TextField(blank=True, help_text="What was tried, for the ledger.")
    commit = models.CharField(max_length=80, blank=True)
    as_role = models.CharField(
        max_length=60,
        blank=True,
        db_default="",
        default="",
        help_text="The role for whom it searched, which may not see every block; empty for nobody in particular.",
    )
    origin = models.CharField(max_length=300, blank=True, help_text="Name of the file it was read from.")
    report = models.JSONField(null=True, help_text="Side effects of a search: unknown ids, retries. Empty for none.")
    failure = models.TextField(blank=True)
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "tag"], name="run_tag_in_project"),
            models.CheckConstraint(name="run_state_is_known", condition=Q(state__in=RunState.values)),
            models.CheckConstraint(
                name="run_complete_has_digest_and_time",
                condition=~Q(state=RunState.COMPLETE) | (Q(completed_at__isnull=False) & ~Q(digest="")),
            ),
        ]

    def __str__(self) -> str:
        return self.tag

    @property
    def returns_passages(self) -> bool:
        return self.returns == Returns.PASSAGES

    @property
    def effective_depth(self) -> int:
        """The most results a ranking of the run can have: its depth; of blocks, at most those of the snapshot."""
        if self.returns_passages:
            return self.depth
        return min(self.depth, self.snapshot.block_count)


class Ranking(models.Model):
    """The results of a run for one query, best first: positions and scores, packed by `ranking.pack`.

    Of a run that returns passages, `passages` has them as `core.passages` writes them, and nothing is packed.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="rankings")
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")
    packed = models.BinaryField()
    length = models.PositiveIntegerField()
    latency_ms = models.FloatField(null=True)
    passages = models.JSONField(null=True, help_text="Only for a run that returns passages: as it returned them.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "query"], name="ranking_once_per_run_and_query")]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.query_id}"


class Pool(models.Model):
    """The pairs that people judge, such as the union of the runs' top results for each query."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="pools")
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="pools")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=PoolKind.choices, default=PoolKind.DEPTH)
    depth = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=PoolState.choices, default=PoolState.PENDING)
    plan = models.JSONField(null=True, help_text="How pairs are chosen beyond the depth; empty for the plain union.")
    origin = models.CharField(max_length=300, blank=True, help_text="File name and digest of imported judgements.")
    entry_count = models.PositiveIntegerField(default=0)
    summary = models.JSONField(
        default=dict,
        help_text="Pairs per query and overlap of runs, as `summary_of` gives them, once complete.",
    )
    failure = models.TextField(blank=True)
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="pool_name_in_project"),
            models.CheckConstraint(name="pool_state_is_known", condition=Q(state__in=PoolState.values)),
            models.CheckConstraint(
                name="pool_complete_has_time",
                condition=~Q(state=PoolState.COMPLETE) | Q(completed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class PoolRun(models.Model):
    """One run whose results are in a pool."""

    pool = models.ForeignKey(Pool, models.PROTECT, related_name="pool_runs")
    run = models.ForeignKey(Run, models.PROTECT, related_name="pool_runs")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "run"], name="pool_run_once")]

    def __str__(self) -> str:
        return f"{self.pool_id}/{self.run_id}"


class PoolQuery(models.Model):
    """One query that a pool covers, whether or not any run found something for it."""

    pool = models.ForeignKey(Pool, models.PROTECT, related_name="pool_queries")
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "query"], name="pool_query_once")]

    def __str__(self) -> str:
        return f"{self.pool_id}/{self.query_id}"


class PoolEntry(models.Model):
    """One query–block pair. `found_by` lists `[run id, rank]` of the runs that found it, by run id; ranks from 1."""

    # Without an index of its own: that of its pairs begins with it.
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="entries", db_index=False)
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")
    version = models.ForeignKey(BlockVersion, models.PROTECT, related_name="+")
    found_by = models.JSONField(default=list)
    sampled = models.JSONField(null=True, help_text="How a pair came in that no run's top put here; see `sampling`.")

    class Meta:
        verbose_name_plural = "pool entries"
        constraints = [models.UniqueConstraint(fields=["pool", "query", "version"], name="pool_pair_once")]

    def __str__(self) -> str:
        return f"{self.query_id}–{self.version_id}"
