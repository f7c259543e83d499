from django.db import migrations, models

FIRST_ROW = "What its last import took the first row of tables for; empty where that was recognised."


class Migration(migrations.Migration):
    """What the first row of tables of a corpus is. In SQL for the reason of 0004."""

    dependencies = [
        ("corpus", "0014_deleted_projects"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE corpus_corpus ADD COLUMN first_row varchar(10) DEFAULT '' NOT NULL",
            "ALTER TABLE corpus_corpus DROP COLUMN first_row",
            state_operations=[
                migrations.AddField(
                    "corpus",
                    "first_row",
                    models.CharField(blank=True, db_default="", help_text=FIRST_ROW, max_length=10),
                )
            ],
        )
    ]
