from django.db import migrations

from apps.common.database.triggers import InstallGuards, append_only


GUARDS = [
    *append_only("gates_gateresult", "what a gate said"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("gates", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
