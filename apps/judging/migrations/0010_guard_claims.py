from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, same

GUARDS = [
    Guard("judging_placeholderclaim", "DELETE", "a claim is never deleted; end it"),
    Guard(
        "judging_placeholderclaim",
        "UPDATE",
        "whom a claim joins is fixed, and an ended one stays ended",
        'OLD."ended_at" IS NOT NULL OR NOT (' + same("placeholder_id", "member_id", "project_id", "claimed_at") + ")",
    ),
]


class Migration(migrations.Migration):
    """Who a name was joined to stays on record. After the table, whose keys are made at the end of its migration."""

    dependencies = [("judging", "0009_placeholder_claims")]

    operations = [InstallGuards(GUARDS)]
