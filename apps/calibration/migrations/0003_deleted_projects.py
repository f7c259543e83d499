from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("calibration 0002_guards")
GUARDS = with_project(
    OLD,
    {
        "calibration_calibration": "project_id",
        "calibration_calibrationitem": "calibration_id calibration_calibration project_id",
        "calibration_calibrationmessage": "calibration_id calibration_calibration project_id",
        "calibration_calibrationverdict": "item_id calibration_calibrationitem calibration_id calibration_calibration project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("calibration", "0002_guards"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
