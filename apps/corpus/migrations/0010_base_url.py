from django.db import migrations, models

BASE_URL = "Address of the site that its passages link to; empty for none."


class Migration(migrations.Migration):
    """The site that the passages of a corpus link to. In SQL for the reason of 0004."""

    dependencies = [
        ("corpus", "0009_also_text"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE corpus_corpus ADD COLUMN base_url varchar(300) DEFAULT '' NOT NULL",
            "ALTER TABLE corpus_corpus DROP COLUMN base_url",
            state_operations=[
                migrations.AddField(
                    "corpus",
                    "base_url",
                    models.CharField(blank=True, db_default="", help_text=BASE_URL, max_length=300),
                )
            ],
        )
    ]
