from django.db import migrations, models

from apps.common.database.triggers import KeepGuards

COLUMNS = {
    "expertise": (40, "What the asker knows of the subject already."),
    "answer_format": (40, "What the answer should look like."),
    "asked_on": (10, "The day it is of, such as 2026-03-01."),
}


class Migration(migrations.Migration):
    """A query says what its asker knows, what the answer should look like, and of which day it is."""

    dependencies = [
        ("queries", "0004_facets"),
    ]

    operations = [
        KeepGuards(
            migrations.AddField(
                model_name="query",
                name=name,
                field=models.CharField(blank=True, db_default="", default="", help_text=words, max_length=longest),
            )
        )
        for name, (longest, words) in COLUMNS.items()
    ]
