from django.db import migrations

from apps.common.triggers import GuardReplacement

TABLES = ["retrieval_poolentry", "retrieval_ranking", "retrieval_run"]


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0003_engines_plans_and_draws")]

    operations = [GuardReplacement(TABLES)]
