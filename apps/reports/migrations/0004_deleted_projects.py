from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("reports 0002_guards", "reports 0003_negatives_report")
GUARDS = with_project(
    OLD,
    {
        "reports_biasreport": "project_id",
        "reports_negativesreport": "project_id",
        "reports_stabilityreport": "project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("reports", "0003_negatives_report"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
