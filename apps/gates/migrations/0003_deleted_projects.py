from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("gates 0002_guards")
GUARDS = with_project(
    OLD,
    {
        "gates_gateresult": "evaluation_id evaluation_evaluation project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("gates", "0002_guards"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
