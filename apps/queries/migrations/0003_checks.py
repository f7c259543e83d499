from django.db import migrations, models

from apps.common.database.triggers import KeepGuards


class Migration(migrations.Migration):
    """What the checks found in a query when it came in, until somebody settles it. Those of before were not checked."""

    dependencies = [("queries", "0002_triggers")]

    operations = [
        KeepGuards(
            migrations.AddField(
                model_name="query",
                name="remarks",
                field=models.JSONField(
                    blank=True,
                    default=dict,
                    help_text="What the checks found and nobody has settled: a sentence by check.",
                ),
            )
        ),
    ]
