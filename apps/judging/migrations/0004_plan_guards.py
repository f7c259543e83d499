from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, append_only, same

GUARDS = [
    *append_only("judging_knownanswer", "a known answer"),
    *append_only("judging_pilotdecision", "the decision on a pilot"),
    Guard(
        "judging_round",
        "UPDATE",
        "the plan of a round is fixed once it is open",
        "OLD.state <> 'opening' AND NOT (" + same("plan") + ")",
        name="rest_of_plan",
    ),
]


class Migration(migrations.Migration):
    dependencies = [("judging", "0003_plans_checks_and_keys")]

    operations = [InstallGuards(GUARDS)]
