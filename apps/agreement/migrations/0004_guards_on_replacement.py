from django.db import migrations

from apps.common.triggers import GuardReplacement

TABLES = [
    "agreement_calibration",
    "agreement_calibrationitem",
    "agreement_calibrationmessage",
    "agreement_calibrationverdict",
]


class Migration(migrations.Migration):
    dependencies = [("agreement", "0003_read_grades")]

    operations = [GuardReplacement(TABLES)]
