"""Which triple's verdicts a notification tells of, so that it can be hidden while they are veiled."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_notifications_to_mail")]

    operations = [
        migrations.AddField(
            model_name="notification",
            name="about",
            field=models.BigIntegerField(
                help_text="The triple whose verdicts it tells of; a curtain may cover it.", null=True
            ),
        ),
    ]
