from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, frozen_when, same, with_project

# Neither of the two wrote any revision of a triple that they review once more.
ITEM_OF_AN_AUTHOR = """EXISTS (
  SELECT 1 FROM "triples_revision" mine JOIN "triples_revision" written ON written."triple_id" = mine."triple_id"
  JOIN "calibration_calibration" set_ ON set_."id" = NEW."calibration_id"
  WHERE mine."id" = NEW."revision_id" AND written."author_id" IN (set_."subject_id", set_."partner_id"))"""

VERDICT_OF_A_STRANGER = """NOT EXISTS (
  SELECT 1 FROM "calibration_calibrationitem" item
  JOIN "calibration_calibration" set_ ON set_."id" = item."calibration_id"
  WHERE item."id" = NEW."item_id" AND set_."state" = 'open'
  AND NEW."person_id" IN (set_."subject_id", set_."partner_id"))"""

MESSAGE_TOO_LATE = """EXISTS (
  SELECT 1 FROM "calibration_calibration" set_ WHERE set_."id" = NEW."calibration_id" AND set_."state" = 'closed')"""

ANOTHER_ONE = f"NOT ({same('project_id', 'number', 'subject_id', 'partner_id', 'side', 'period', 'item_count')})"

PATHS = {
    "calibration_calibration": "project_id",
    "calibration_calibrationitem": "calibration_id calibration_calibration project_id",
    "calibration_calibrationmessage": "calibration_id calibration_calibration project_id",
    "calibration_calibrationverdict": "item_id calibration_calibrationitem calibration_id calibration_calibration project_id",
}

GUARDS = with_project(
    [
        Guard(
            "calibration_calibration",
            "UPDATE",
            "who takes part in a calibration and why is fixed",
            ANOTHER_ONE,
            name="fixed",
        ),
        *frozen_when("calibration_calibration", "OLD.\"state\" = 'closed'", "a closed calibration"),
        *append_only("calibration_calibrationitem", "an item of a calibration"),
        Guard("calibration_calibrationitem", "INSERT", "nobody reviews what they wrote", ITEM_OF_AN_AUTHOR),
        *append_only("calibration_calibrationverdict", "a verdict of a calibration"),
        Guard(
            "calibration_calibrationverdict",
            "INSERT",
            "only the two of an open calibration answer in it",
            VERDICT_OF_A_STRANGER,
        ),
        *append_only("calibration_calibrationmessage", "a message"),
        Guard("calibration_calibrationmessage", "INSERT", "a closed calibration takes no message", MESSAGE_TOO_LATE),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("calibration", "0002_guards"),
        ("calibration", "0003_deleted_projects"),
    ]

    dependencies = [
        ("calibration", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
