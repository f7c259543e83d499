from django.db import migrations, models

STATES = [("passed", "passed"), ("failed", "failed"), ("unknown", "not known yet"), ("nothing", "nothing checked")]


class Migration(migrations.Migration):
    """A gate's result says how its interval was computed; those of before are percentiles of resampled figures.

    In SQL, since Django would rebuild the table on SQLite, and a rebuilt table has no triggers.
    """

    dependencies = [
        ("gates", "0004_nothing_checked"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE gates_gateresult ADD COLUMN method varchar(20) DEFAULT 'percentile' NOT NULL",
            "ALTER TABLE gates_gateresult DROP COLUMN method",
            state_operations=[
                migrations.AddField(
                    "gateresult", "method", models.CharField(db_default="percentile", max_length=20)
                ),
                migrations.AlterField("gateresult", "state", models.CharField(choices=STATES, max_length=8)),
            ],
        )
    ]
