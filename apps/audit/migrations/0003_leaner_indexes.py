import django.db.models.deletion
from django.db import migrations, models

from apps.common.database.schema import without_own_index


class Migration(migrations.Migration):
    """One index less to write for each sealed record."""

    dependencies = [
        ("audit", "0002_guards"),
    ]

    operations = [
        without_own_index(
            "audit.Link",
            {
                "chain": models.ForeignKey(
                    db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="links", to="audit.chain"
                )
            },
        ),
    ]
