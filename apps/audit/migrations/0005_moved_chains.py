from django.db import migrations, models


class Migration(migrations.Migration):
    """The chains that come with a project from another server say under which keys they were sealed."""

    dependencies = [
        ("audit", "0004_deleted_projects"),
    ]

    operations = [
        migrations.AddField(
            model_name="chain",
            name="moves",
            field=models.JSONField(
                help_text="How keys were renumbered since it was sealed: one entry for each server, the last first.",
                null=True,
            ),
        ),
    ]
