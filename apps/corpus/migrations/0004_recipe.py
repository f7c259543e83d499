from django.db import migrations, models

TABLES = {"corpus": "corpus_corpus", "snapshot": "corpus_snapshot"}
RECIPE = "How its documents were cut into blocks; empty when the files brought their own."


class Migration(migrations.Migration):
    """The recipe of corpora and snapshots.

    In SQL, since Django would rebuild the tables on SQLite, and a rebuilt table has lost its guards.
    """

    dependencies = [
        ("corpus", "0003_search"),
    ]

    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} ADD COLUMN recipe varchar(40) DEFAULT '' NOT NULL",
            f"ALTER TABLE {table} DROP COLUMN recipe",
            state_operations=[
                migrations.AddField(
                    model, "recipe", models.CharField(blank=True, db_default="", help_text=RECIPE, max_length=40)
                )
            ],
        )
        for model, table in TABLES.items()
    ]
