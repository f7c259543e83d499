from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same


GUARDS = [
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
]


class Migration(migrations.Migration):
    dependencies = [
        ("queries", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
