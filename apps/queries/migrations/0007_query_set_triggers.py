from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, frozen_when, with_project

SETS, MEMBERS = "queries_savedset", "queries_setmember"


def is_frozen(row: str) -> str:
    return f'(SELECT "frozen_at" FROM "{SETS}" WHERE "id" = {row}."saved_set_id") IS NOT NULL'


GUARDS = with_project(
    [
        *frozen_when(SETS, 'OLD."frozen_at" IS NOT NULL', "a frozen query set"),
        *frozen_when(MEMBERS, is_frozen("OLD"), "a query of a frozen set"),
        Guard(MEMBERS, "INSERT", "a frozen query set takes no further queries", is_frozen("NEW")),
    ],
    {SETS: "project_id", MEMBERS: f"saved_set_id {SETS} project_id"},
)


class Migration(migrations.Migration):
    """A frozen query set never changes, from any client; the rows of a project that is deleted go with it."""

    dependencies = [("queries", "0006_query_sets")]

    operations = [InstallGuards(GUARDS)]
