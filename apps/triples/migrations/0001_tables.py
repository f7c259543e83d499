from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Revision",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            ("question", models.TextField(blank=True)),
            ("answer", models.TextField(blank=True)),
            ("needs_all_blocks", models.BooleanField(default=False, help_text="All blocks are needed, not any one of them.")),
            ("note", models.TextField(blank=True)),
            ("warnings", models.JSONField(default=list, help_text="Checks that warned when it was submitted.")),
            ("round", models.PositiveIntegerField(default=0)),
            ("created_at", models.DateTimeField()),
            ("saved_at", models.DateTimeField()),
            ("submitted_at", models.DateTimeField(null=True)),
            ("author", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.snapshot")),
            ("triple", models.ForeignKey(on_delete=models.PROTECT, related_name="revisions", to="triples.triple")),
        ],
        options={
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(
                        ("submitted_at", None),
                        models.Q(models.Q(("question", ""), _negated=True), models.Q(("answer", ""), _negated=True), ("round__gte", 1)),
                        _connector="OR",
                    ),
                    name="revision_submitted_is_whole",
                ),
                models.UniqueConstraint(fields=("triple", "number"), name="revision_number_in_triple"),
            ]
        },
    ),
    migrations.CreateModel(
        name="Triple",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            (
                "state",
                models.CharField(
                    choices=[
                        ("draft", "Draft"),
                        ("in_review", "In review"),
                        ("accepted", "Accepted"),
                        ("disputed", "Disputed"),
                        ("dropped", "Dropped"),
                        ("split", "Split"),
                        ("retired", "Retired"),
                        ("withdrawn", "Withdrawn"),
                    ],
                    default="draft",
                    max_length=12,
                ),
            ),
            ("is_stale", models.BooleanField(default=False)),
            ("round", models.PositiveIntegerField(default=0, help_text="Review rounds so far; 0 before the first submit.")),
            ("was_disputed", models.BooleanField(default=False)),
            ("domain", models.CharField(blank=True, max_length=80)),
            ("difficulty", models.CharField(blank=True, max_length=10)),
            ("is_machine_written", models.BooleanField(default=False)),
            ("resolution", models.CharField(blank=True, help_text="consensus, revised, policy:…, adjudicated.", max_length=40)),
            ("resolved_at", models.DateTimeField(null=True)),
            (
                "retire_reason",
                models.CharField(
                    blank=True,
                    choices=[
                        ("block_gone", "Passage gone"),
                        ("permission_revoked", "Permission revoked"),
                        ("out_of_scope", "Out of scope"),
                    ],
                    max_length=24,
                ),
            ),
            ("edit_version", models.PositiveIntegerField(default=0, help_text="Raised by each save of the draft.")),
            ("idempotency_key", models.CharField(help_text="Of the new bench that it was first saved from.", max_length=64, null=True)),
            ("created_at", models.DateTimeField()),
            ("changed_at", models.DateTimeField(help_text="When the state or the draft last moved.")),
            ("adopted_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("author", models.ForeignKey(on_delete=models.PROTECT, related_name="triples", to=settings.AUTH_USER_MODEL)),
            ("current", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="triples.revision")),
            ("parent", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="children", to="triples.triple")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="triples", to="accounts.project")),
            ("query", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="triples", to="queries.query")),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="triples", to="corpus.snapshot")),
            ("source", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="triples", to="queries.source")),
        ],
        options={
            "indexes": [
                models.Index(fields=["project", "state", "changed_at"], name="triple_by_state"),
                models.Index(fields=["project", "state", "number"], name="triple_list_by_state"),
                models.Index(fields=["project", "author", "number"], name="triple_list_by_author"),
                models.Index(fields=["project", "source", "number"], name="triple_list_by_source"),
                models.Index(fields=["project", "domain", "number"], name="triple_list_by_domain"),
                models.Index(condition=models.Q(("is_stale", True)), fields=["project", "number"], name="triple_list_stale"),
                models.Index(condition=models.Q(("is_stale", True)), fields=["project", "changed_at"], name="triple_stale_by_age"),
                models.Index(
                    condition=models.Q(("adopted_by", None), ("is_machine_written", True), ("state", "draft")),
                    fields=["project", "number"],
                    name="triple_candidates",
                ),
            ],
            "constraints": [
                models.UniqueConstraint(fields=("project", "number"), name="triple_number_in_project"),
                models.UniqueConstraint(
                    condition=models.Q(("idempotency_key__isnull", False)),
                    fields=("author", "idempotency_key"),
                    name="triple_key_once_per_author",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        ("state__in", ["draft", "in_review", "accepted", "disputed", "dropped", "split", "retired", "withdrawn"])
                    ),
                    name="triple_state_is_known",
                ),
                models.CheckConstraint(
                    condition=models.Q(("is_stale", False), ("state", "accepted"), _connector="OR"), name="triple_only_accepted_is_stale"
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("state", "accepted"), _negated=True),
                        models.Q(models.Q(("resolution", ""), _negated=True), ("resolved_at__isnull", False)),
                        _connector="OR",
                    ),
                    name="triple_accepted_has_resolution",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("state", "retired"), _negated=True), models.Q(("retire_reason", ""), _negated=True), _connector="OR"
                    ),
                    name="triple_retired_has_a_reason",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Rejection",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("reason", models.TextField()),
            ("rejected_at", models.DateTimeField()),
            ("rejected_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("triple", models.OneToOneField(on_delete=models.PROTECT, related_name="rejection", to="triples.triple")),
        ],
        options={"constraints": [models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="rejection_has_a_reason")]},
    ),
    migrations.CreateModel(
        name="ImportedEntry",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("file", models.CharField(max_length=255)),
            ("line", models.PositiveIntegerField()),
            ("machine", models.CharField(blank=True, max_length=200)),
            ("claims", models.JSONField(default=dict)),
            ("digest", models.CharField(max_length=64, null=True)),
            ("imported_at", models.DateTimeField()),
            ("imported_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("triple", models.OneToOneField(on_delete=models.PROTECT, related_name="imported", to="triples.triple")),
        ],
        options={"indexes": [models.Index(fields=["digest"], name="imported_entry_by_digest")]},
    ),
    migrations.CreateModel(
        name="ExpectedBlock",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("order", models.PositiveSmallIntegerField(default=0)),
            ("spans", models.JSONField(default=list, help_text="[start, end] in code points of the block's text.")),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
            ("revision", models.ForeignKey(on_delete=models.PROTECT, related_name="expected_blocks", to="triples.revision")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("revision", "version"), name="expected_block_once_per_revision")]},
    ),
    migrations.CreateModel(
        name="AskedRevision",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("query", models.ForeignKey(on_delete=models.PROTECT, related_name="asked_revisions", to="queries.query")),
            ("revision", models.OneToOneField(on_delete=models.PROTECT, related_name="asked", to="triples.revision")),
        ],
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("triples", "0001_initial")
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("corpus", "0001_tables"),
        ("queries", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
