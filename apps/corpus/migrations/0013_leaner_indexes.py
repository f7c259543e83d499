import django.db.models.deletion
from django.db import migrations, models

from apps.common.database.schema import without_own_index

PROTECT = django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    """Fewer indexes of what an import of passages writes."""

    dependencies = [
        ("corpus", "0012_title_index"),
    ]

    operations = [
        without_own_index(
            "corpus.Document",
            {
                "corpus": models.ForeignKey(
                    db_index=False, on_delete=PROTECT, related_name="documents", to="corpus.corpus"
                )
            },
        ),
        without_own_index(
            "corpus.Block",
            {
                "corpus": models.ForeignKey(
                    db_index=False, on_delete=PROTECT, related_name="blocks", to="corpus.corpus"
                ),
            },
        ),
        without_own_index(
            "corpus.BlockVersion",
            {
                "block": models.ForeignKey(
                    db_index=False, on_delete=PROTECT, related_name="versions", to="corpus.block"
                ),
                "text_digest": models.CharField(max_length=64),
            },
        ),
        migrations.AddIndex(
            model_name="blockversion",
            index=models.Index(fields=["text_digest"], name="block_version_of_text"),
        ),
        without_own_index(
            "corpus.FormerVersion",
            {
                "imported": models.ForeignKey(
                    db_index=False, on_delete=PROTECT, related_name="former_versions", to="corpus.import"
                ),
            },
        ),
    ]
