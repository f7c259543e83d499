from django.db import migrations

from apps.common.database.triggers import InstallGuards, append_only, frozen_when


GUARDS = [
    *append_only("evaluation_score", "a score"),
    *frozen_when("evaluation_evaluation", 'OLD."scored_at" IS NOT NULL', "a finished evaluation"),
    *append_only("evaluation_closedcomparison", "a closed comparison"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
