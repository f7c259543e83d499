"""Find what is to be mailed by person: what was read, or mailed, is never looked at again."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("jobs", "0002_notifications"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(model_name="notification", name="notification_unmailed"),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("mailed_at", None), ("read_at", None)),
                fields=["person", "id"],
                name="notification_to_mail",
            ),
        ),
    ]
