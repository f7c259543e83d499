from django.db import migrations

from apps.common.triggers import InstallGuards, append_only

GUARDS = append_only("evaluation_score", "a score")


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial")]

    operations = [InstallGuards(GUARDS)]
