from django.db import migrations

from apps.common.triggers import GuardReplacement

TABLES = [
    "evaluation_biasreport",
    "evaluation_closedcomparison",
    "evaluation_evaluation",
    "evaluation_gateresult",
    "evaluation_score",
    "evaluation_stabilityreport",
]


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0006_replaced_gates")]

    operations = [GuardReplacement(TABLES)]
