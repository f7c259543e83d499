from django.db import migrations, models

from apps.common.database.triggers import KeepGuards

WORDS = "Ids of the query's subtopics that the block answers. Empty: nobody was asked."


class Migration(migrations.Migration):
    """A version has subtopics; in earlier versions nobody was asked for them, and their digests stay."""

    dependencies = [("goldsets", "0013_few_asked_stays"), ("judging", "0017_facets")]

    operations = [
        KeepGuards(migrations.AddField("versiongrade", "facets", models.JSONField(null=True, help_text=WORDS))),
    ]
