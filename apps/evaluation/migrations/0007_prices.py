"""A ledger entry has prices, of which the cost of 1,000 queries is worked out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0006_method_of_intervals")]

    operations = [
        migrations.AddField(
            model_name="runnote",
            name="prices",
            field=models.JSONField(
                help_text="Prices that the cost is worked out of, as texts; empty for a typed cost.", null=True
            ),
        ),
    ]
