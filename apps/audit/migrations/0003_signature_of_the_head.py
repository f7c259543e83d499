from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_guards")]

    operations = [
        migrations.AddField(
            "chain",
            "signature",
            models.CharField(blank=True, default="", help_text="Of the head, with the audit key.", max_length=64),
        ),
    ]
