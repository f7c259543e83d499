from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards

WITHDRAWN = 'EXISTS (SELECT 1 FROM "judging_round" WHERE "id" = NEW."round_id" AND "withdrawn_at" IS NOT NULL)'

IN_A_VERSION = """NEW."withdrawn_at" IS NOT NULL
  AND EXISTS (SELECT 1 FROM "goldsets_version_rounds" WHERE "round_id" = NEW."id")"""

GUARDS = [
    Guard("goldsets_version_rounds", "INSERT", "a version takes no withdrawn grades", WITHDRAWN, name="withdrawn"),
    Guard("judging_round", "UPDATE", "grades that a version rests on are not withdrawn", IN_A_VERSION, name="in_version"),
]


class Migration(migrations.Migration):
    """No version has grades that were withdrawn."""

    dependencies = [
        ("goldsets", "0002_guards"),
        ("judging", "0003_withdrawn_rounds"),
    ]

    operations = [InstallGuards(GUARDS)]
