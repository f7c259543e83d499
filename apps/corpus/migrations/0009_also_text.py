from django.db import migrations, models

ALSO_TEXT = "Endings of files that its last import read as text, such as toml,yaml."


class Migration(migrations.Migration):
    """What files of a corpus are read as text. In SQL for the reason of 0004."""

    dependencies = [
        ("corpus", "0008_emptied_corpora"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE corpus_corpus ADD COLUMN also_text varchar(200) DEFAULT '' NOT NULL",
            "ALTER TABLE corpus_corpus DROP COLUMN also_text",
            state_operations=[
                migrations.AddField(
                    "corpus",
                    "also_text",
                    models.CharField(blank=True, db_default="", help_text=ALSO_TEXT, max_length=200),
                )
            ],
        )
    ]
