import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("jobs", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Block",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("outside_id", models.CharField(max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="BlockVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("text_digest", models.CharField(db_index=True, max_length=64)),
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
                (
                    "block",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="corpus.block"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("block", "digest", "metadata_digest"), name="block_version_once_in_block"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("page_end", None), ("page_start", None)),
                            ("page_start__lte", models.F("page_end")),
                            _connector="OR",
                        ),
                        name="block_version_pages_in_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("redacted_at", None),
                            models.Q(("text", ""), models.Q(("redaction_reason", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="block_version_redacted_has_no_text",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="block",
            name="current",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="corpus.blockversion"
            ),
        ),
        migrations.CreateModel(
            name="Corpus",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60)),
                ("name", models.CharField(max_length=120)),
                ("language", models.CharField(default="en", max_length=12)),
                ("created_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "freeze_job",
                    models.ForeignKey(
                        help_text="The job that was asked last to freeze it.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="jobs.job",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="corpora", to="accounts.project"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "corpora",
                "constraints": [models.UniqueConstraint(fields=("project", "slug"), name="corpus_slug_in_project")],
            },
        ),
        migrations.AddField(
            model_name="block",
            name="corpus",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="blocks", to="corpus.corpus"
            ),
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("outside_id", models.CharField(max_length=300)),
                ("title", models.TextField(blank=True)),
                (
                    "corpus",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="documents", to="corpus.corpus"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("corpus", "outside_id"), name="document_id_in_corpus")],
            },
        ),
        migrations.AddField(
            model_name="block",
            name="document",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="blocks", to="corpus.document"
            ),
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
                (
                    "applied_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="imports", to="accounts.project"
                    ),
                ),
                (
                    "upload",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="jobs.upload"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "-id"], name="import_newest_first")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["reading", "ready", "faulty", "applying", "applied", "failed", "discarded"])
                        ),
                        name="import_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("applied_at__isnull", False), ("applied_by__isnull", False), ("state", "applied")
                            ),
                            models.Q(
                                models.Q(("state", "applied"), _negated=True),
                                ("applied_at", None),
                                ("applied_by", None),
                            ),
                            _connector="OR",
                        ),
                        name="import_applied_at_goes_with_applied",
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
                (
                    "corpus",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="snapshots", to="corpus.corpus"
                    ),
                ),
                (
                    "frozen_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("corpus", "number"), name="snapshot_number_in_corpus"),
                    models.UniqueConstraint(fields=("corpus", "digest"), name="snapshot_digest_in_corpus"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SnapshotBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "block",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="corpus.block"),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="corpus.snapshot"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="corpus.blockversion"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("snapshot", "position"), name="snapshot_position"),
                    models.UniqueConstraint(fields=("snapshot", "block"), name="snapshot_block_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SnapshotDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.TextField()),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="corpus.document"
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="titles", to="corpus.snapshot"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("snapshot", "document"), name="snapshot_document_once")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="block",
            constraint=models.UniqueConstraint(fields=("corpus", "outside_id"), name="block_id_in_corpus"),
        ),
    ]
