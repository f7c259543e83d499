from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, with_project

WRITTEN_BY_MACHINE = "NEW.\"is_machine_written\" AND NEW.\"resolution\" = 'elsewhere'"
NEEDS_TWO_HERE = "a machine-written triple is never taken as reviewed elsewhere"

GUARDS = with_project(
    [
        Guard("triples_triple", "UPDATE", NEEDS_TWO_HERE, WRITTEN_BY_MACHINE, name="elsewhere_update"),
        Guard("triples_triple", "INSERT", NEEDS_TWO_HERE, WRITTEN_BY_MACHINE, name="elsewhere_insert"),
    ],
    {"triples_triple": "project_id"},
)


class Migration(migrations.Migration):
    """Triples that were reviewed elsewhere, and the random ones of them that are reviewed blind."""

    dependencies = [("triples", "0002_triggers")]

    operations = [
        migrations.AddField(
            model_name="triple",
            name="sampled_at",
            field=models.DateTimeField(
                help_text="When it was drawn at random for a blind review, after it was taken as reviewed elsewhere.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="triple",
            name="resolution",
            field=models.CharField(
                blank=True, help_text="consensus, revised, policy:…, adjudicated, elsewhere.", max_length=40
            ),
        ),
        InstallGuards(GUARDS),
    ]
