from django.db import migrations, models


class Migration(migrations.Migration):
    """What a gate decided on, beside what it said. Results that are there stay as they are: they never change."""

    dependencies = [
        ("evaluation", "0004_numbers_that_can_be_defended"),
    ]

    operations = [
        migrations.AddField(
            model_name="gateresult",
            name="ci_low",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="gateresult",
            name="ci_high",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="gateresult",
            name="n",
            field=models.PositiveIntegerField(help_text="Queries that the value is of.", null=True),
        ),
        migrations.AddField(
            model_name="gateresult",
            name="gap",
            field=models.CharField(max_length=16, null=True),
        ),
        migrations.AlterField(
            model_name="score",
            name="people_low",
            field=models.FloatField(help_text="Interval over people too: what their leanings add.", null=True),
        ),
    ]
