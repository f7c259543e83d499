from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("retrieval 0002_guards")
GUARDS = with_project(
    OLD,
    {
        "retrieval_poolentry": "pool_id retrieval_pool project_id",
        "retrieval_ranking": "run_id retrieval_run project_id",
        "retrieval_run": "project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("retrieval", "0004_leaner_indexes"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
