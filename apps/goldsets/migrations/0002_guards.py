from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, frozen_when, same


def version_is_frozen(row: str) -> str:
    return f'(SELECT "state" FROM "goldsets_version" WHERE "id" = {row}."version_id") <> \'draft\''


VERSION_FACTS = same(
    "id", "gold_set_id", "number", "snapshot_id", "guideline_id", "test_share", "seed", "digest", "frozen_at"
)

GUARDS = [
    Guard(
        "goldsets_version",
        "UPDATE",
        "a frozen version never changes",
        f"OLD.\"state\" <> 'draft' AND (NEW.\"state\" = 'draft' OR NOT ({VERSION_FACTS}))",
    ),
    Guard("goldsets_version", "DELETE", "a frozen version is never deleted", "OLD.\"state\" <> 'draft'"),
]
for table in ("goldsets_versionquery", "goldsets_versiongrade", "goldsets_versiontriple"):
    GUARDS += frozen_when(table, version_is_frozen("OLD"), "an item of a frozen version")
    GUARDS.append(
        Guard(table, "INSERT", "a frozen version takes no further items", version_is_frozen("NEW"))
    )


class Migration(migrations.Migration):
    dependencies = [("goldsets", "0001_initial")]

    operations = [InstallGuards(GUARDS)]
