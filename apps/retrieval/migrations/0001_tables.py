from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Pool",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=120)),
            (
                "kind",
                models.CharField(
                    choices=[("depth", "depth-k union"), ("chosen", "chosen pairs"), ("imported", "imported judgements")],
                    default="depth",
                    max_length=10,
                ),
            ),
            ("depth", models.PositiveIntegerField(default=0)),
            (
                "state",
                models.CharField(
                    choices=[("pending", "pending"), ("complete", "complete"), ("failed", "failed")], default="pending", max_length=10
                ),
            ),
            ("plan", models.JSONField(help_text="How pairs are chosen beyond the depth; empty for the plain union.", null=True)),
            ("origin", models.CharField(blank=True, help_text="File name and digest of imported judgements.", max_length=300)),
            ("entry_count", models.PositiveIntegerField(default=0)),
            (
                "summary",
                models.JSONField(default=dict, help_text="Pairs per query and overlap of runs, as `summary_of` gives them, once complete."),
            ),
            ("failure", models.TextField(blank=True)),
            ("created_at", models.DateTimeField()),
            ("completed_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("job", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="pools", to="accounts.project")),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="pools", to="corpus.snapshot")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("project", "name"), name="pool_name_in_project"),
                models.CheckConstraint(condition=models.Q(("state__in", ["pending", "complete", "failed"])), name="pool_state_is_known"),
                models.CheckConstraint(
                    condition=models.Q(models.Q(("state", "complete"), _negated=True), ("completed_at__isnull", False), _connector="OR"),
                    name="pool_complete_has_time",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="PoolEntry",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("found_by", models.JSONField(default=list)),
            ("sampled", models.JSONField(help_text="How a pair came in that no run's top put here; see `sampling`.", null=True)),
            ("pool", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="entries", to="retrieval.pool")),
            ("query", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="queries.query")),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
        ],
        options={
            "verbose_name_plural": "pool entries",
            "constraints": [models.UniqueConstraint(fields=("pool", "query", "version"), name="pool_pair_once")],
        },
    ),
    migrations.CreateModel(
        name="PoolQuery",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("pool", models.ForeignKey(on_delete=models.PROTECT, related_name="pool_queries", to="retrieval.pool")),
            ("query", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="queries.query")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("pool", "query"), name="pool_query_once")]},
    ),
    migrations.CreateModel(
        name="System",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("name", models.CharField(max_length=120)),
            (
                "kind",
                models.CharField(
                    choices=[
                        ("bm25", "BM25"),
                        ("tfidf", "TF-IDF cosine"),
                        ("lsa", "LSA"),
                        ("dense", "dense embeddings"),
                        ("fusion", "reciprocal-rank fusion"),
                        ("http", "HTTP endpoint"),
                        ("opensearch", "OpenSearch or Elasticsearch"),
                        ("loaded", "loaded index"),
                        ("uploaded", "uploaded run"),
                    ],
                    max_length=20,
                ),
            ),
            ("config", models.JSONField(default=dict)),
            ("digest", models.CharField(max_length=64)),
            ("created_at", models.DateTimeField()),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="systems", to="accounts.project")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("project", "name"), name="system_name_in_project"),
                models.UniqueConstraint(fields=("project", "digest"), name="system_digest_in_project"),
                models.CheckConstraint(
                    condition=models.Q(
                        ("kind__in", ["bm25", "tfidf", "lsa", "dense", "fusion", "http", "opensearch", "loaded", "uploaded"])
                    ),
                    name="system_kind_is_known",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="LoadedIndex",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("url", models.CharField(help_text="Address of the cluster.", max_length=1000)),
            ("auth", models.JSONField(default=dict, help_text="How requests sign in: the name of a secret, never its value.")),
            ("name", models.CharField(max_length=80)),
            ("mark", models.CharField(max_length=32)),
            (
                "state",
                models.CharField(
                    choices=[("loading", "loading"), ("ready", "ready"), ("failed", "failed"), ("dropped", "dropped")],
                    default="loading",
                    max_length=10,
                ),
            ),
            ("noted", models.PositiveIntegerField(default=0, help_text="Passages that the server has for certain.")),
            ("server", models.CharField(blank=True, help_text="opensearch or elasticsearch, once it has answered.", max_length=20)),
            ("server_version", models.CharField(blank=True, max_length=40)),
            ("failure", models.TextField(blank=True)),
            ("created_at", models.DateTimeField()),
            ("ready_at", models.DateTimeField(null=True)),
            ("dropped_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            (
                "dense",
                models.ForeignKey(
                    help_text="The system whose model makes the vectors.",
                    null=True,
                    on_delete=models.PROTECT,
                    related_name="+",
                    to="retrieval.system",
                ),
            ),
            (
                "job",
                models.ForeignKey(help_text="Loads it, or drops it.", null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job"),
            ),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="loaded_indexes", to="accounts.project")),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="loaded_indexes", to="corpus.snapshot")),
        ],
        options={
            "verbose_name_plural": "loaded indexes",
            "constraints": [
                models.UniqueConstraint(
                    condition=models.Q(("state", "dropped"), _negated=True),
                    fields=("project", "url", "name"),
                    name="loaded_index_once_at_an_address",
                ),
                models.CheckConstraint(
                    condition=models.Q(("state__in", ["loading", "ready", "failed", "dropped"])), name="loaded_index_state_is_known"
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("state", "ready"), _negated=True),
                        models.Q(("ready_at__isnull", False), models.Q(("server", ""), _negated=True)),
                        _connector="OR",
                    ),
                    name="loaded_index_ready_has_server_and_time",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("dropped_at__isnull", False), ("state", "dropped")),
                        models.Q(models.Q(("state", "dropped"), _negated=True), ("dropped_at", None)),
                        _connector="OR",
                    ),
                    name="loaded_index_dropped_has_time",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Run",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("tag", models.CharField(max_length=120)),
            ("depth", models.PositiveIntegerField(help_text="Most results stored for a query.")),
            (
                "state",
                models.CharField(
                    choices=[("pending", "pending"), ("complete", "complete"), ("failed", "failed")], default="pending", max_length=10
                ),
            ),
            ("digest", models.CharField(blank=True, help_text="Over the rankings, once complete.", max_length=64)),
            ("query_count", models.PositiveIntegerField(default=0)),
            ("latency", models.JSONField(default=dict, help_text="Milliseconds: p50, p95, p99, mean; empty when unknown.")),
            ("note", models.TextField(blank=True, help_text="What was tried, for the ledger.")),
            ("commit", models.CharField(blank=True, max_length=80)),
            ("origin", models.CharField(blank=True, help_text="Name of the file it was read from.", max_length=300)),
            ("report", models.JSONField(help_text="Side effects of a search: unknown ids, retries. Empty for none.", null=True)),
            ("failure", models.TextField(blank=True)),
            ("created_at", models.DateTimeField()),
            ("completed_at", models.DateTimeField(null=True)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("job", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="runs", to="accounts.project")),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="runs", to="corpus.snapshot")),
            ("system", models.ForeignKey(on_delete=models.PROTECT, related_name="runs", to="retrieval.system")),
            (
                "returns",
                models.CharField(
                    choices=[("blocks", "passages of the corpus"), ("passages", "passages of its own")],
                    db_default="blocks",
                    default="blocks",
                    help_text="Blocks of the snapshot, or passages that the system cut itself.",
                    max_length=10,
                ),
            ),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("project", "tag"), name="run_tag_in_project"),
                models.CheckConstraint(condition=models.Q(("state__in", ["pending", "complete", "failed"])), name="run_state_is_known"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("state", "complete"), _negated=True),
                        models.Q(("completed_at__isnull", False), models.Q(("digest", ""), _negated=True)),
                        _connector="OR",
                    ),
                    name="run_complete_has_digest_and_time",
                ),
            ]
        },
    ),
    migrations.CreateModel(
        name="Ranking",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("packed", models.BinaryField()),
            ("length", models.PositiveIntegerField()),
            ("latency_ms", models.FloatField(null=True)),
            ("query", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="queries.query")),
            ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="rankings", to="retrieval.run")),
            ("passages", models.JSONField(help_text="Only for a run that returns passages: as it returned them.", null=True)),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("run", "query"), name="ranking_once_per_run_and_query")]},
    ),
    migrations.CreateModel(
        name="PoolRun",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("pool", models.ForeignKey(on_delete=models.PROTECT, related_name="pool_runs", to="retrieval.pool")),
            ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="pool_runs", to="retrieval.run")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("pool", "run"), name="pool_run_once")]},
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("retrieval", "0001_initial"),
        ("retrieval", "0004_leaner_indexes"),
        ("retrieval", "0006_loaded_indexes"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("corpus", "0001_tables"),
        ("jobs", "0001_tables"),
        ("queries", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
