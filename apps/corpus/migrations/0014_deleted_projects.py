from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("corpus 0002_guards", "corpus 0011_public_texts")
GUARDS = with_project(
    OLD,
    {
        "corpus_block": "corpus_id corpus_corpus project_id",
        "corpus_blockversion": "block_id corpus_block corpus_id corpus_corpus project_id",
        "corpus_document": "corpus_id corpus_corpus project_id",
        "corpus_publictexts": "corpus_id corpus_corpus project_id",
        "corpus_snapshot": "corpus_id corpus_corpus project_id",
        "corpus_snapshotblock": "snapshot_id corpus_snapshot corpus_id corpus_corpus project_id",
        "corpus_snapshotdocument": "snapshot_id corpus_snapshot corpus_id corpus_corpus project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("corpus", "0013_leaner_indexes"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
