from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("queries 0002_guards")
GUARDS = with_project(
    OLD,
    {
        "queries_permission": "source_id queries_source project_id",
        "queries_query": "project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("queries", "0004_standard_difficulty"),
        ("triples", "0003_asked_revisions"),  # which lifts the guard of queries for a while
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
