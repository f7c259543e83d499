import django.db.models.deletion
from django.db import migrations, models

from apps.common.triggers import Guard, LiftGuards, same

REDACTION = (
    'OLD."redacted_at" IS NULL AND NEW."redacted_at" IS NOT NULL AND NEW."text" = \'\' AND '
    + same("id", "block_id", "digest", "text_digest", "page_start", "page_end", "created_at")
)
# As they stood; 0009 puts them back with the new column in them.
GUARDS = [
    Guard(
        "corpus_blockversion",
        "UPDATE",
        "a block version is never changed; only a redaction may empty it",
        f"NOT ({REDACTION})",
    ),
    Guard("corpus_blockversion", "DELETE", "a block version is never deleted"),
]


class Migration(migrations.Migration):
    dependencies = [("corpus", "0006_guards_of_names")]

    operations = [
        LiftGuards(GUARDS),
        migrations.AddField(
            model_name="blockversion",
            name="metadata_digest",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.RemoveConstraint(model_name="blockversion", name="block_version_digest_in_block"),
        migrations.AddConstraint(
            model_name="blockversion",
            constraint=models.UniqueConstraint(
                fields=("block", "digest", "metadata_digest"), name="block_version_once_in_block"
            ),
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
    ]
