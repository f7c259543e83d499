from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion("judging 0002_guards", "judging 0010_guard_claims")
GUARDS = with_project(
    OLD,
    {
        "accounts_project": "id",
        "judging_adjudication": "round_id judging_round project_id",
        "judging_guideline": "project_id",
        "judging_judgement": "round_id judging_round project_id",
        "judging_keptpair": "round_id judging_round project_id",
        "judging_knownanswer": "round_id judging_round project_id",
        "judging_placeholderclaim": "project_id",
        "judging_pilotdecision": "round_id judging_round project_id",
        "judging_round": "project_id",
        "judging_seat": "round_id judging_round project_id",
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("judging", "0010_guard_claims"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]
