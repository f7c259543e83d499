from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, frozen_when, same


def version_is_frozen(row: str) -> str:
    return f'(SELECT "state" FROM "goldsets_version" WHERE "id" = {row}."version_id") <> \'draft\''


VERSION_FACTS = same(
    "id",
    "gold_set_id",
    "number",
    "snapshot_id",
    "guideline_id",
    "test_share",
    "group_by",
    "seed",
    "note",
    "digest",
    "manifest",
    "created_by_id",
    "created_at",
    "frozen_by_id",
    "frozen_at",
)

RELEASE_FACTS = same("released_by_id", "released_at")

NEXT_STATE = (
    '(OLD."state" = NEW."state"'
    " OR (OLD.\"state\" = 'frozen' AND NEW.\"state\" = 'released')"
    " OR (OLD.\"state\" = 'released' AND NEW.\"state\" = 'superseded'))"
)

GUARDS = [
    Guard(
        "goldsets_version",
        "UPDATE",
        "a frozen version never changes",
        f"OLD.\"state\" <> 'draft' AND NOT ({VERSION_FACTS} AND {NEXT_STATE})",
    ),
    Guard(
        "goldsets_version",
        "UPDATE",
        "a released version stays released as it was",
        f'OLD."released_at" IS NOT NULL AND NOT ({RELEASE_FACTS})',
        name="release",
    ),
    Guard("goldsets_version", "DELETE", "a frozen version is never deleted", "OLD.\"state\" <> 'draft'"),
    *frozen_when("goldsets_versionloss", version_is_frozen("OLD"), "what a frozen version left out"),
    Guard("goldsets_versionloss", "INSERT", "what a frozen version left out is fixed", version_is_frozen("NEW")),
]
for table in ("goldsets_versionquery", "goldsets_versiongrade", "goldsets_versiontriple", "goldsets_version_rounds"):
    GUARDS += frozen_when(table, version_is_frozen("OLD"), "an item of a frozen version")
    GUARDS.append(Guard(table, "INSERT", "a frozen version takes no further items", version_is_frozen("NEW")))


class Migration(migrations.Migration):
    dependencies = [
        ("goldsets", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
