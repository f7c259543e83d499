from django.db import migrations

from apps.common.database.triggers import InstallGuards, frozen_when


GUARDS = [
    *frozen_when("reports_biasreport", 'OLD."computed_at" IS NOT NULL', "a finished bias report"),
    *frozen_when("reports_stabilityreport", 'OLD."computed_at" IS NOT NULL', "a finished stability report"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
