from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards

SEALED = 'EXISTS (SELECT 1 FROM "evaluation_evaluation" WHERE "id" = NEW."evaluation_id" AND "sealed_by" IS NOT NULL)'
GUARDS = [
    Guard("evaluation_score", "INSERT", "an evaluation that stays sealed has no scores", SEALED, name="sealed"),
]


class Migration(migrations.Migration):
    """An evaluation on test says by which step it did not beat the best one; then it has no scores."""

    dependencies = [
        ("evaluation", "0006_method_of_intervals"),
    ]

    operations = [
        migrations.AddField(
            "evaluation",
            "sealed_by",
            models.FloatField(
                help_text="The step by which its score does not beat the best published one; empty: published.",
                null=True,
            ),
        ),
        InstallGuards(GUARDS),
    ]
