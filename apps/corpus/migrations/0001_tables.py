from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables

TABLES = [
    migrations.CreateModel(
        name="Corpus",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("slug", models.SlugField(max_length=60)),
            ("name", models.CharField(max_length=120)),
            ("language", models.CharField(default="en", max_length=12)),
            ("created_at", models.DateTimeField()),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            (
                "freeze_job",
                models.ForeignKey(
                    help_text="The job that was asked last to freeze it.",
                    null=True,
                    on_delete=models.PROTECT,
                    related_name="+",
                    to="jobs.job",
                ),
            ),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="corpora", to="accounts.project")),
            (
                "recipe",
                models.CharField(
                    blank=True,
                    db_default="",
                    help_text="How its documents were cut into blocks; empty when the files brought their own.",
                    max_length=40,
                ),
            ),
            (
                "emptied_at",
                models.DateTimeField(
                    help_text="When the import that made it was undone. The next import under its name fills it again.", null=True
                ),
            ),
            (
                "also_text",
                models.CharField(
                    blank=True,
                    db_default="",
                    help_text="Endings of files that its last import read as text, such as toml,yaml.",
                    max_length=200,
                ),
            ),
            (
                "base_url",
                models.CharField(
                    blank=True, db_default="", help_text="Address of the site that its passages link to; empty for none.", max_length=300
                ),
            ),
        ],
        options={
            "verbose_name_plural": "corpora",
            "constraints": [models.UniqueConstraint(fields=("project", "slug"), name="corpus_slug_in_project")],
        },
    ),
    migrations.CreateModel(
        name="Document",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("outside_id", models.CharField(max_length=300)),
            ("title", models.TextField(blank=True)),
            ("corpus", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="documents", to="corpus.corpus")),
        ],
        options={
            "constraints": [models.UniqueConstraint(fields=("corpus", "outside_id"), name="document_id_in_corpus")],
            "indexes": [
                models.Index(
                    models.F("corpus"),
                    models.Func("title", models.Value(1), models.Value(200), function="SUBSTR"),
                    name="document_title_start",
                )
            ],
        },
    ),
    migrations.CreateModel(
        name="Import",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("kind", models.CharField(max_length=32)),
            ("options", models.JSONField(default=dict)),
            (
                "state",
                models.CharField(
                    choices=[
                        ("reading", "being read"),
                        ("ready", "waiting for confirmation"),
                        ("faulty", "has mistakes"),
                        ("applying", "being applied"),
                        ("applied", "applied"),
                        ("failed", "failed"),
                        ("discarded", "discarded"),
                    ],
                    default="reading",
                    max_length=12,
                ),
            ),
            ("plan", models.JSONField(default=dict)),
            ("result", models.JSONField(default=dict)),
            ("failure", models.TextField(blank=True)),
            ("created_at", models.DateTimeField()),
            ("applied_at", models.DateTimeField(null=True)),
            ("applied_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("created_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("job", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="jobs.job")),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="imports", to="accounts.project")),
            ("upload", models.OneToOneField(on_delete=models.PROTECT, related_name="+", to="jobs.upload")),
            ("undone_at", models.DateTimeField(help_text="When what it changed was put back.", null=True)),
            ("undone_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "indexes": [models.Index(fields=["project", "-id"], name="import_newest_first")],
            "constraints": [
                models.CheckConstraint(
                    condition=models.Q(("state__in", ["reading", "ready", "faulty", "applying", "applied", "failed", "discarded"])),
                    name="import_state_is_known",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("applied_at__isnull", False), ("applied_by__isnull", False), ("state", "applied")),
                        models.Q(models.Q(("state", "applied"), _negated=True), ("applied_at", None), ("applied_by", None)),
                        _connector="OR",
                    ),
                    name="import_applied_at_goes_with_applied",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("undone_at", None), ("undone_by", None)),
                        models.Q(("state", "applied"), ("undone_at__isnull", False), ("undone_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="import_undone_at_goes_with_undone_by",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Snapshot",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            ("name", models.CharField(max_length=120)),
            ("digest", models.CharField(max_length=64)),
            ("block_count", models.PositiveIntegerField()),
            ("document_count", models.PositiveIntegerField()),
            ("frozen_at", models.DateTimeField()),
            ("corpus", models.ForeignKey(on_delete=models.PROTECT, related_name="snapshots", to="corpus.corpus")),
            ("frozen_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            (
                "recipe",
                models.CharField(
                    blank=True,
                    db_default="",
                    help_text="How its documents were cut into blocks; empty when the files brought their own.",
                    max_length=40,
                ),
            ),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("corpus", "number"), name="snapshot_number_in_corpus"),
                models.UniqueConstraint(fields=("corpus", "digest"), name="snapshot_digest_in_corpus"),
            ]
        },
    ),
    migrations.CreateModel(
        name="SnapshotDocument",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("title", models.TextField()),
            ("document", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.document")),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="titles", to="corpus.snapshot")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("snapshot", "document"), name="snapshot_document_once")]},
    ),
    migrations.CreateModel(
        name="RememberedColumns",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("kind", models.CharField(max_length=32)),
            ("headings", models.CharField(help_text="A digest of the headings, in their order.", max_length=64)),
            ("choice", models.JSONField(default=dict)),
            ("updated_at", models.DateTimeField()),
            ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="accounts.project")),
            ("updated_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "verbose_name_plural": "remembered columns",
            "constraints": [models.UniqueConstraint(fields=("project", "kind", "headings"), name="columns_once_for_headings")],
        },
    ),
    migrations.CreateModel(
        name="FormerTitle",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("former", models.TextField(blank=True)),
            ("current", models.TextField(blank=True)),
            ("document", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.document")),
            ("imported", models.ForeignKey(on_delete=models.PROTECT, related_name="former_titles", to="corpus.import")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("imported", "document"), name="former_title_once")]},
    ),
    migrations.CreateModel(
        name="PublicTexts",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("owner", models.CharField(help_text="Whose texts they are, and who allows it.", max_length=200)),
            ("evidence", models.TextField(blank=True, help_text="Licence, contract, mail or policy that allows it.")),
            ("recorded_at", models.DateTimeField()),
            ("ended_at", models.DateTimeField(null=True)),
            ("corpus", models.ForeignKey(on_delete=models.PROTECT, related_name="public_texts", to="corpus.corpus")),
            ("ended_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("recorded_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "verbose_name_plural": "public texts",
            "constraints": [
                models.CheckConstraint(condition=models.Q(("owner", ""), _negated=True), name="public_texts_have_an_owner"),
                models.UniqueConstraint(
                    condition=models.Q(("ended_at", None)), fields=("corpus",), name="public_texts_one_live_per_corpus"
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Block",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("outside_id", models.CharField(max_length=300)),
            ("current", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
            ("corpus", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="blocks", to="corpus.corpus")),
            ("document", models.ForeignKey(on_delete=models.PROTECT, related_name="blocks", to="corpus.document")),
        ],
        options={"constraints": [models.UniqueConstraint(fields=("corpus", "outside_id"), name="block_id_in_corpus")]},
    ),
    migrations.CreateModel(
        name="BlockVersion",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("digest", models.CharField(max_length=64)),
            ("text_digest", models.CharField(max_length=64)),
            ("metadata_digest", models.CharField(blank=True, default="", max_length=64)),
            ("title", models.TextField(blank=True)),
            ("section_path", models.JSONField(default=list, help_text="Headings from the outermost in.")),
            ("page_start", models.PositiveIntegerField(null=True)),
            ("page_end", models.PositiveIntegerField(null=True)),
            ("text", models.TextField(blank=True)),
            ("metadata", models.JSONField(default=dict)),
            ("created_at", models.DateTimeField()),
            ("redacted_at", models.DateTimeField(null=True)),
            ("redaction_reason", models.TextField(blank=True)),
            ("block", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="versions", to="corpus.block")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("block", "digest", "metadata_digest"), name="block_version_once_in_block"),
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("page_end", None), ("page_start", None)), ("page_start__lte", models.F("page_end")), _connector="OR"
                    ),
                    name="block_version_pages_in_order",
                ),
                models.CheckConstraint(
                    condition=models.Q(
                        ("redacted_at", None), models.Q(("text", ""), models.Q(("redaction_reason", ""), _negated=True)), _connector="OR"
                    ),
                    name="block_version_redacted_has_no_text",
                ),
            ],
            "indexes": [models.Index(fields=["text_digest"], name="block_version_of_text")],
        },
    ),
    migrations.CreateModel(
        name="SnapshotBlock",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("position", models.PositiveIntegerField()),
            ("block", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.block")),
            ("snapshot", models.ForeignKey(on_delete=models.PROTECT, related_name="entries", to="corpus.snapshot")),
            ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("snapshot", "position"), name="snapshot_position"),
                models.UniqueConstraint(fields=("snapshot", "block"), name="snapshot_block_once"),
            ]
        },
    ),
    migrations.CreateModel(
        name="FormerVersion",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("block", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="corpus.block")),
            ("current", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
            ("former", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="corpus.blockversion")),
            ("imported", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="former_versions", to="corpus.import")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("imported", "block"), name="former_version_once"),
                models.CheckConstraint(
                    condition=models.Q(("former__isnull", False), ("current__isnull", False), _connector="OR"),
                    name="former_version_is_a_change",
                ),
            ]
        },
    ),
]


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("corpus", "0001_initial"),
        ("corpus", "0004_recipe"),
        ("corpus", "0005_remembered_columns"),
        ("corpus", "0006_undo_imports"),
        ("corpus", "0007_undone_imports"),
        ("corpus", "0008_emptied_corpora"),
        ("corpus", "0009_also_text"),
        ("corpus", "0010_base_url"),
        ("corpus", "0012_title_index"),
        ("corpus", "0013_leaner_indexes"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("jobs", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [CreateTables(TABLES)]
