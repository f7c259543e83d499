"""A ledger entry has prices, of which the cost of 1,000 queries is worked out, and figures from elsewhere."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0007_sealed_by_a_step")]

    operations = [
        migrations.AddField(
            model_name="runnote",
            name="prices",
            field=models.JSONField(
                help_text="Prices that the cost is worked out of, as texts; empty for a typed cost.", null=True
            ),
        ),
        migrations.AddField(
            model_name="runnote",
            name="figures",
            field=models.JSONField(help_text="Figures measured elsewhere, such as clicks, by name.", null=True),
        ),
    ]
