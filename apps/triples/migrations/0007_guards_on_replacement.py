from django.db import migrations

from apps.common.triggers import GuardReplacement

TABLES = ["triples_expectedblock", "triples_importedentry", "triples_rejection", "triples_revision", "triples_triple"]


class Migration(migrations.Migration):
    dependencies = [("triples", "0006_stale_by_age")]

    operations = [GuardReplacement(TABLES)]
