from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, same

REDACTION = 'OLD."redacted_at" IS NULL AND NEW."redacted_at" IS NOT NULL AND NEW."text" = \'\' AND ' + same(
    "id", "block_id", "digest", "text_digest", "metadata_digest", "page_start", "page_end", "created_at"
)

HAS_ITS_LIST = 'EXISTS (SELECT 1 FROM "corpus_snapshotblock" entry WHERE entry."snapshot_id" = NEW."snapshot_id")'

GUARDS = [
    *append_only("corpus_snapshot", "a frozen snapshot"),
    *append_only("corpus_snapshotblock", "an entry of a frozen snapshot"),
    Guard(
        "corpus_snapshotblock",
        "INSERT",
        "a frozen snapshot takes no further entries",
        'NEW."position" >= (SELECT "block_count" FROM "corpus_snapshot" WHERE "id" = NEW."snapshot_id")',
    ),
    Guard(
        "corpus_document",
        "UPDATE",
        "a document keeps its id and its corpus",
        f"NOT ({same('id', 'corpus_id', 'outside_id')})",
    ),
    Guard("corpus_document", "DELETE", "a document is never deleted"),
    Guard(
        "corpus_block",
        "UPDATE",
        "a block keeps its id, its document and its corpus",
        f"NOT ({same('id', 'corpus_id', 'document_id', 'outside_id')})",
    ),
    Guard("corpus_block", "DELETE", "a block is never deleted"),
    Guard(
        "corpus_blockversion",
        "UPDATE",
        "a block version is never changed; only a redaction may empty it",
        f"NOT ({REDACTION})",
    ),
    Guard("corpus_blockversion", "DELETE", "a block version is never deleted"),
    *append_only("corpus_snapshotdocument", "a title in a frozen snapshot"),
    Guard("corpus_snapshotdocument", "INSERT", "a frozen snapshot takes no further titles", HAS_ITS_LIST),
]


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
