from django.db import migrations, models

from apps.common.database.triggers import KeepGuards


class Migration(migrations.Migration):
    """A run says for which role it searched."""

    dependencies = [("retrieval", "0003_usage")]

    operations = [
        KeepGuards(
            migrations.AddField(
                model_name="run",
                name="as_role",
                field=models.CharField(
                    blank=True,
                    db_default="",
                    default="",
                    help_text=(
                        "The role for whom it searched, which may not see every block; empty for nobody in particular."
                    ),
                    max_length=60,
                ),
            )
        ),
    ]
