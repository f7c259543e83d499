from django.db import migrations, models


class Migration(migrations.Migration):
    """A corpus that an undone import leaves empty is no longer listed."""

    dependencies = [
        ("corpus", "0007_undone_imports"),
    ]

    operations = [
        migrations.AddField(
            model_name="corpus",
            name="emptied_at",
            field=models.DateTimeField(
                help_text=(
                    "When the import that made it was undone. The next import under its name fills it again."
                ),
                null=True,
            ),
        ),
    ]
