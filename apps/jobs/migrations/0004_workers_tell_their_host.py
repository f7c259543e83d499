"""Workers tell which data directory they use, so that operators see where hosts do not share their files."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_standard_webhooks")]
    operations = [migrations.AddField("workerbeat", "host", models.CharField(max_length=32, default=""))]
