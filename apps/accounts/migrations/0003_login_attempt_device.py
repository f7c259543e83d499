from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_secrets")]

    operations = [
        migrations.AddField(
            model_name="loginattempt",
            name="device",
            field=models.CharField(blank=True, default="", max_length=32),
        ),
    ]
