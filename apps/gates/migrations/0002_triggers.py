from django.db import migrations

from apps.common.database.triggers import InstallGuards, append_only, with_project

GUARDS = with_project(
    append_only("gates_gateresult", "what a gate said"),
    {"gates_gateresult": "evaluation_id evaluation_evaluation project_id"},
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("gates", "0002_guards"),
        ("gates", "0003_deleted_projects"),
    ]

    dependencies = [
        ("gates", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
