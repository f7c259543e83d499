from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same, with_project

PATHS = {
    "querylogs_querylog": "project_id",
    "querylogs_offeredquery": "log_id querylogs_querylog project_id",
}
DRAWN = ("log_id", "position", "band", "outcome", "searches", "people", "nothing", "again", "clicks", "chance")

GUARDS = with_project(
    [
        Guard(
            "querylogs_offeredquery",
            "UPDATE",
            "what was drawn from a log, and with which chance, is never changed",
            f"NOT ({same(*DRAWN)})",
        ),
        Guard(
            "querylogs_querylog",
            "UPDATE",
            "a closed search log stays closed",
            'OLD."closed_at" IS NOT NULL AND NOT (' + same("closed_at") + ")",
        ),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes, from any client."""

    dependencies = [
        ("querylogs", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
