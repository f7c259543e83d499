"""A ledger entry has figures that were measured elsewhere, such as clicks."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0007_prices")]

    operations = [
        migrations.AddField(
            model_name="runnote",
            name="figures",
            field=models.JSONField(help_text="Figures measured elsewhere, such as clicks, by name.", null=True),
        ),
    ]
