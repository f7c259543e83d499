from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, frozen_when, same


def run_is_complete(row: str) -> str:
    return f'(SELECT "state" FROM "retrieval_run" WHERE "id" = {row}."run_id") = \'complete\''


RUN_FACTS = same(
    "id",
    "project_id",
    "system_id",
    "snapshot_id",
    "tag",
    "depth",
    "state",
    "digest",
    "query_count",
    "latency",
    "created_at",
    "completed_at",
)

GUARDS = [
    Guard(
        "retrieval_run",
        "UPDATE",
        "a complete run never changes, its note and commit apart",
        f"OLD.\"state\" = 'complete' AND NOT ({RUN_FACTS})",
    ),
    Guard("retrieval_run", "DELETE", "a complete run is never deleted", "OLD.\"state\" = 'complete'"),
    *frozen_when("retrieval_ranking", run_is_complete("OLD"), "a ranking of a complete run"),
    Guard("retrieval_ranking", "INSERT", "a complete run takes no further rankings", run_is_complete("NEW")),
]


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0001_initial")]

    operations = [InstallGuards(GUARDS)]
