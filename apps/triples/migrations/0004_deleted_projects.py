from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("triples 0002_guards", "triples 0003_asked_revisions")
GUARDS = with_project(
    OLD,
    {
        "triples_askedrevision": "query_id queries_query project_id",
        "triples_expectedblock": "revision_id triples_revision triple_id triples_triple project_id",
        "triples_importedentry": "triple_id triples_triple project_id",
        "triples_rejection": "triple_id triples_triple project_id",
        "triples_revision": "triple_id triples_triple project_id",
        "triples_triple": "project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("triples", "0003_asked_revisions"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
