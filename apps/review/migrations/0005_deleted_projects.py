from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("review 0002_guards", "review 0004_candidate_guards")
GUARDS = with_project(
    OLD,
    {
        "review_candidateanswer": "candidate_id review_candidateblock triple_id triples_triple project_id",
        "review_candidateblock": "triple_id triples_triple project_id",
        "review_disputemessage": "triple_id triples_triple project_id",
        "review_missnote": "triple_id triples_triple project_id",
        "review_resolution": "triple_id triples_triple project_id",
        "review_reviewseat": "revision_id triples_revision triple_id triples_triple project_id",
        "review_verdict": "revision_id triples_revision triple_id triples_triple project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("review", "0004_candidate_guards"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
