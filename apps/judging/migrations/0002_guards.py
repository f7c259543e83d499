from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, append_only, same

PLAN = [
    "project_id", "pool_id", "guideline_id", "number", "kind", "judges", "overlap_share", "seed",
]
GUARDS = [
    *append_only("judging_judgement", "a judgement"),
    *append_only("judging_adjudication", "an adjudication"),
    *append_only("judging_guideline", "a guideline version"),
    Guard("judging_seat", "DELETE", "a seat is never deleted: a pair keeps the number of judges it was planned for"),
    Guard("judging_seat", "UPDATE", "a judged seat is fixed and cannot be changed", "OLD.state = 'done'"),
    Guard(
        "judging_round",
        "UPDATE",
        "the plan of a round is fixed once it is open",
        "OLD.state <> 'opening' AND NOT (" + same(*PLAN) + ")",
        name="plan",
    ),
    Guard("judging_round", "DELETE", "a round is never deleted"),
]


class Migration(migrations.Migration):
    dependencies = [("judging", "0001_initial")]

    operations = [InstallGuards(GUARDS)]
