from django.db import migrations

from apps.common.triggers import Guard, GuardReplacement, InstallGuards, same

# Snapshots name blocks and documents by their outside ids, and digests are taken over those.
GUARDS = [
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
]


class Migration(migrations.Migration):
    dependencies = [("corpus", "0005_freeze_job")]

    operations = [
        InstallGuards(GUARDS),
        GuardReplacement(["corpus_blockversion", "corpus_snapshot", "corpus_snapshotblock"]),
    ]
