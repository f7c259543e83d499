from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, append_only, same

REDACTION = (
    'OLD."redacted_at" IS NULL AND NEW."redacted_at" IS NOT NULL AND NEW."text" = \'\' AND '
    + same("id", "block_id", "digest", "text_digest", "page_start", "page_end", "created_at")
)

GUARDS = [
    Guard(
        "corpus_blockversion",
        "UPDATE",
        "a block version is never changed; only a redaction may empty it",
        f"NOT ({REDACTION})",
    ),
    Guard("corpus_blockversion", "DELETE", "a block version is never deleted"),
    *append_only("corpus_snapshot", "a frozen snapshot"),
    *append_only("corpus_snapshotblock", "an entry of a frozen snapshot"),
    # The positions of a frozen snapshot are dense and unique, so this leaves no room for another entry.
    Guard(
        "corpus_snapshotblock",
        "INSERT",
        "a frozen snapshot takes no further entries",
        'NEW."position" >= (SELECT "block_count" FROM "corpus_snapshot" WHERE "id" = NEW."snapshot_id")',
    ),
]


class Migration(migrations.Migration):
    dependencies = [("corpus", "0001_initial")]

    operations = [InstallGuards(GUARDS)]
