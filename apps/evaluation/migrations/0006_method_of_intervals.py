"""A score says how its interval was computed; the second interval of a score, corrected for skew, goes."""

from importlib import import_module

from django.db import migrations, models

from apps.common.database.triggers import InstallGuards, LiftGuards

GUARDS = [
    one
    for one in import_module("apps.evaluation.migrations.0002_triggers").GUARDS
    if one.table == "evaluation_score"
]
METHOD = models.CharField(db_default="percentile", help_text="How the interval was computed.", max_length=20)
PROPORTIONS = """
UPDATE evaluation_score SET method = 'wilson'
 WHERE (measure LIKE 'Success%' OR measure LIKE 'FailureRate%' OR measure LIKE 'Sufficient%')
   AND evaluation_id IN (SELECT id FROM evaluation_evaluation WHERE hit <> '')
"""


def dropped(column: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"ALTER TABLE evaluation_score DROP COLUMN {column}",
        f"ALTER TABLE evaluation_score ADD COLUMN {column} double precision NULL",
        state_operations=[migrations.RemoveField("score", column)],
    )


class Migration(migrations.Migration):
    """Scores of before keep their intervals: percentiles of resampled means, or Wilson's for a share of Q&As.

    In SQL, since Django would rebuild the table on SQLite, and a rebuilt table has no triggers.
    """

    dependencies = [
        ("evaluation", "0002_triggers"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE evaluation_score ADD COLUMN method varchar(20) DEFAULT 'percentile' NOT NULL",
            "ALTER TABLE evaluation_score DROP COLUMN method",
            state_operations=[migrations.AddField("score", "method", METHOD)],
        ),
        LiftGuards(GUARDS),
        migrations.RunSQL(PROPORTIONS, migrations.RunSQL.noop),
        InstallGuards(GUARDS),
        dropped("bca_low"),
        dropped("bca_high"),
    ]
