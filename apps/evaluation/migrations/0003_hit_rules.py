from django.db import migrations, models

HIT = "A hit rule; empty: by grades."
DIGEST = "Over the measures, with the hit rule where there is one."


class Migration(migrations.Migration):
    """What an evaluation counts as right.

    In SQL, since Django would rebuild the table on SQLite, and its guards with it. The digest of the measures covers
    the rule, so that the unique key stays as it is.
    """

    dependencies = [
        ("evaluation", "0002_guards"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE evaluation_evaluation ADD COLUMN hit varchar(60) DEFAULT '' NOT NULL",
            "ALTER TABLE evaluation_evaluation DROP COLUMN hit",
            state_operations=[
                migrations.AddField(
                    "evaluation",
                    "hit",
                    models.CharField(blank=True, db_default="", default="", help_text=HIT, max_length=60),
                ),
                migrations.AlterField("evaluation", "measures_digest", models.CharField(help_text=DIGEST, max_length=64)),
            ],
        ),
    ]
