from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, with_project

WITHOUT_A_LEAD = 'NEW."kind" = \'elsewhere\' AND (NEW."decided_by_id" IS NULL OR NEW."reason" = \'\')'

GUARDS = with_project(
    [
        Guard(
            "review_resolution",
            "INSERT",
            "what was reviewed elsewhere is taken by a lead, with a reason",
            WITHOUT_A_LEAD,
            name="elsewhere",
        )
    ],
    {"review_resolution": "triple_id triples_triple project_id"},
)


class Migration(migrations.Migration):
    """Resolutions of triples that were reviewed elsewhere."""

    dependencies = [("review", "0002_triggers"), ("triples", "0003_elsewhere")]

    operations = [
        migrations.AlterField(
            model_name="resolution",
            name="kind",
            field=models.CharField(
                choices=[
                    ("consensus", "Consensus"),
                    ("revised", "Revised"),
                    ("policy", "Policy"),
                    ("adjudicated", "Adjudicated"),
                    ("split", "Split"),
                    ("dropped", "Dropped"),
                    ("elsewhere", "Reviewed elsewhere"),
                ],
                max_length=12,
            ),
        ),
        InstallGuards(GUARDS),
    ]
