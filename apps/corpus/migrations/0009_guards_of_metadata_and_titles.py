from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, append_only, same

REDACTION = (
    'OLD."redacted_at" IS NULL AND NEW."redacted_at" IS NOT NULL AND NEW."text" = \'\' AND '
    + same("id", "block_id", "digest", "text_digest", "metadata_digest", "page_start", "page_end", "created_at")
)
HAS_ITS_LIST = 'EXISTS (SELECT 1 FROM "corpus_snapshotblock" entry WHERE entry."snapshot_id" = NEW."snapshot_id")'

GUARDS = [
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
    dependencies = [("corpus", "0008_fill_metadata_and_titles")]

    operations = [InstallGuards(GUARDS)]
