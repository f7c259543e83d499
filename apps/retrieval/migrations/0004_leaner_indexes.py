import django.db.models.deletion
from django.db import migrations, models

from apps.common.database.schema import without_own_index


class Migration(migrations.Migration):
    """One index less to write for each pair of a pool."""

    dependencies = [
        ("retrieval", "0003_passages"),
    ]

    operations = [
        without_own_index(
            "retrieval.PoolEntry",
            {
                "pool": models.ForeignKey(
                    db_index=False,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="entries",
                    to="retrieval.pool",
                )
            },
        ),
    ]
