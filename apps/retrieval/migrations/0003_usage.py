"""A run says what it used and how many of its requests failed; once it is complete, that never changes."""

from importlib import import_module

from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, same, with_project

GUARDS = with_project(
    [
        Guard(
            "retrieval_run",
            "UPDATE",
            "what a complete run used never changes",
            f"OLD.\"state\" = 'complete' AND NOT ({same('usage')})",
            "usage",
        )
    ],
    import_module("apps.retrieval.migrations.0002_triggers").PATHS,
)


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0002_triggers")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="usage",
            field=models.JSONField(
                help_text="Requests, errors, timeouts, tokens and seconds of the whole run, where they are known.",
                null=True,
            ),
        ),
        InstallGuards(GUARDS),
    ]
