from django.db import migrations

from apps.common.triggers import GuardReplacement

TABLES = [
    "goldsets_version",
    "goldsets_version_rounds",
    "goldsets_versiongrade",
    "goldsets_versionquery",
    "goldsets_versiontriple",
]


class Migration(migrations.Migration):
    dependencies = [("goldsets", "0003_losses")]

    operations = [GuardReplacement(TABLES)]
