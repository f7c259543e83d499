from django.db import migrations

from apps.common.triggers import GuardReplacement

TABLES = ["queries_permission", "queries_query"]


class Migration(migrations.Migration):
    dependencies = [("queries", "0002_guards")]

    operations = [GuardReplacement(TABLES)]
