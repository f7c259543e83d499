from importlib import import_module

from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same, with_project

GUARDS = with_project(
    [
        Guard(
            "retrieval_run",
            "UPDATE",
            "the role of a complete run never changes",
            f"OLD.\"state\" = 'complete' AND NOT ({same('as_role')})",
            "role",
        )
    ],
    import_module("apps.retrieval.migrations.0002_triggers").PATHS,
)


class Migration(migrations.Migration):
    """The role of a run never changes once it is complete."""

    dependencies = [("retrieval", "0004_as_role")]

    operations = [InstallGuards(GUARDS)]
