from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

# The mark of the sealer is of no project.
OLD = [guard for guard in on_deletion("audit 0002_guards") if guard.table != "audit_sealmark"]
GUARDS = with_project(
    OLD,
    {
        "audit_chain": "project_id",
        "audit_event": "project_id",
        "audit_link": "chain_id audit_chain project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("audit", "0003_leaner_indexes"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
