from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same, with_project

PATHS = {
    "queries_permission": "source_id queries_source project_id",
    "queries_query": "project_id",
}

GUARDS = with_project(
    [
        Guard(
            "queries_query",
            "UPDATE",
            "the words of a query that was used are never changed; retire it and add another",
            'OLD."locked_at" IS NOT NULL AND NOT ('
            + same("project_id", "outside_id", "text", "intent", "description", "locked_at")
            + ")",
        ),
        Guard("queries_query", "DELETE", "a query that was used is never deleted", 'OLD."locked_at" IS NOT NULL'),
        Guard(
            "queries_permission",
            "UPDATE",
            "a revoked permission stays revoked",
            'OLD."revoked_at" IS NOT NULL AND NOT (' + same("revoked_at", "revoked_by_id", "revocation_reason") + ")",
        ),
        Guard("queries_permission", "DELETE", "a permission is never deleted; revoke it"),
        Guard(
            "queries_query",
            "UPDATE",
            "a query stays what it was made for: to be curated, or to ask the question of a Q&A",
            f"NOT ({same('is_asked')})",
            name="asked",
        ),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("queries", "0002_guards"),
        ("queries", "0003_asked_questions"),
        ("queries", "0005_deleted_projects"),
    ]

    dependencies = [
        ("queries", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
