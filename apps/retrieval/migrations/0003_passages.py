from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, same

RETURNS = "Blocks of the snapshot, or passages that the system cut itself."
CHOICES = [("blocks", "passages of the corpus"), ("passages", "passages of its own")]

OF_A_RUN = '(SELECT "returns" FROM "retrieval_run" WHERE "id" = NEW."run_id")'

NOT_AS_ITS_RUN = f"""({OF_A_RUN} = 'blocks' AND NEW."passages" IS NOT NULL)
  OR ({OF_A_RUN} = 'passages' AND (NEW."passages" IS NULL OR length(NEW."packed") > 0))"""

GUARDS = [
    Guard(
        "retrieval_run",
        "INSERT",
        "a run returns blocks or passages",
        "NEW.\"returns\" NOT IN ('blocks', 'passages')",
        "known_returns",
    ),
    Guard(
        "retrieval_run", "UPDATE", "what a run returns is fixed from the start", f"NOT ({same('returns')})", "returns"
    ),
    Guard(
        "retrieval_ranking",
        "INSERT",
        "a ranking has what its run returns: blocks, packed, or passages",
        NOT_AS_ITS_RUN,
        "returns",
    ),
]


class Migration(migrations.Migration):
    """Runs that return passages of their own.

    In SQL and with a guard for the values, since Django would rebuild the table on SQLite, which others' guards read.
    """

    dependencies = [
        ("retrieval", "0002_guards"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE retrieval_run ADD COLUMN returns varchar(10) DEFAULT 'blocks' NOT NULL",
            "ALTER TABLE retrieval_run DROP COLUMN returns",
            state_operations=[
                migrations.AddField(
                    "run",
                    "returns",
                    models.CharField(
                        choices=CHOICES, db_default="blocks", default="blocks", help_text=RETURNS, max_length=10
                    ),
                ),
            ],
        ),
        migrations.AddField(
            "ranking",
            "passages",
            models.JSONField(help_text="Only for a run that returns passages: as it returned them.", null=True),
        ),
        InstallGuards(GUARDS),
    ]
