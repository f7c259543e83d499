from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same, with_project


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

OF_A_RUN = '(SELECT "returns" FROM "retrieval_run" WHERE "id" = NEW."run_id")'

NOT_AS_ITS_RUN = f"""({OF_A_RUN} = 'blocks' AND NEW."passages" IS NOT NULL)
  OR ({OF_A_RUN} = 'passages' AND (NEW."passages" IS NULL OR length(NEW."packed") > 0))"""

PATHS = {
    "retrieval_poolentry": "pool_id retrieval_pool project_id",
    "retrieval_ranking": "run_id retrieval_run project_id",
    "retrieval_run": "project_id",
}

GUARDS = with_project(
    [
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
        Guard(
            "retrieval_run",
            "INSERT",
            "a run returns blocks or passages",
            "NEW.\"returns\" NOT IN ('blocks', 'passages')",
            "known_returns",
        ),
        Guard(
            "retrieval_run",
            "UPDATE",
            "what a run returns is fixed from the start",
            f"NOT ({same('returns')})",
            "returns",
        ),
        Guard(
            "retrieval_ranking",
            "INSERT",
            "a ranking has what its run returns: blocks, packed, or passages",
            NOT_AS_ITS_RUN,
            "returns",
        ),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("retrieval", "0002_guards"),
        ("retrieval", "0003_passages"),
        ("retrieval", "0005_deleted_projects"),
    ]

    dependencies = [
        ("retrieval", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
