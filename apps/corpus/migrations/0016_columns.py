from django.db import migrations, models

COLUMNS = "What somebody said that columns of its tables are, such as Inhalt=text,Nr=id."


class Migration(migrations.Migration):
    """What the columns of tables of a corpus are. In SQL for the reason of 0004."""

    dependencies = [
        ("corpus", "0015_first_row"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE corpus_corpus ADD COLUMN columns varchar(1000) DEFAULT '' NOT NULL",
            "ALTER TABLE corpus_corpus DROP COLUMN columns",
            state_operations=[
                migrations.AddField(
                    "corpus",
                    "columns",
                    models.CharField(blank=True, db_default="", help_text=COLUMNS, max_length=1_000),
                )
            ],
        )
    ]
