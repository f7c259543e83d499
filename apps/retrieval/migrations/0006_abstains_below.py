"""A run says below which score it has no answer; once it is complete, that never changes."""

from importlib import import_module

from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, KeepGuards, same, with_project

GUARDS = with_project(
    [
        Guard(
            "retrieval_run",
            "UPDATE",
            "the score below which a complete run has no answer never changes",
            f"OLD.\"state\" = 'complete' AND NOT ({same('abstains_below')})",
            "abstains_below",
        )
    ],
    import_module("apps.retrieval.migrations.0002_triggers").PATHS,
)


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0005_as_role_guard")]

    operations = [
        KeepGuards(
            migrations.AddField(
                model_name="run",
                name="abstains_below",
                field=models.FloatField(
                    help_text="A query whose best score is below it gets no answer. Empty: only one without results.",
                    null=True,
                ),
            )
        ),
        InstallGuards(GUARDS),
    ]
