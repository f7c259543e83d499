from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, same

GUARDS = [
    Guard(
        "queries_query",
        "UPDATE",
        "a query stays what it was made for: to be curated, or to ask the question of a Q&A",
        f"NOT ({same('is_asked')})",
        name="asked",
    ),
]


class Migration(migrations.Migration):
    """The mark of queries that only ask the question of a Q&A.

    In SQL, since Django would rebuild the table on SQLite, and a rebuilt table has lost its guards.
    """

    dependencies = [
        ("queries", "0002_guards"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE queries_query ADD COLUMN is_asked bool DEFAULT false NOT NULL",
            "ALTER TABLE queries_query DROP COLUMN is_asked",
            state_operations=[
                migrations.AddField(
                    "query",
                    "is_asked",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The question of a Q&A that came from no query; no list shows it.",
                    ),
                ),
            ],
        ),
        InstallGuards(GUARDS),
    ]
