from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same


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

PAIR = same("id", "pool_id", "query_id", "version_id")

GUARDS = [
    Guard(
        "retrieval_run",
        "UPDATE",
        "a complete run never changes, its note and commit apart",
        f"OLD.\"state\" = 'complete' AND NOT ({RUN_FACTS})",
    ),
    Guard("retrieval_run", "DELETE", "a complete run is never deleted", "OLD.\"state\" = 'complete'"),
    Guard("retrieval_ranking", "UPDATE", "a ranking is never changed"),
    Guard("retrieval_ranking", "DELETE", "a ranking of a complete run is never deleted", run_is_complete("OLD")),
    Guard("retrieval_ranking", "INSERT", "a complete run takes no further rankings", run_is_complete("NEW")),
    Guard(
        "retrieval_poolentry",
        "UPDATE",
        "a pool entry keeps its pool, query and text; only who found it may grow",
        f"NOT ({PAIR})",
    ),
    Guard("retrieval_poolentry", "DELETE", "a pool entry is never deleted"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
