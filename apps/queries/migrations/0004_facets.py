from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, KeepGuards, same

GUARDS = [
    Guard(
        "queries_query",
        "UPDATE",
        "the subtopics by which passages were judged are never changed; retire the query and add another",
        'OLD."facets_locked_at" IS NOT NULL AND NOT (' + same("facets", "facets_locked_at") + ")",
        name="facets",
    ),
]


class Migration(migrations.Migration):
    """A query may have subtopics; they are fixed by the first judgement that names them."""

    dependencies = [
        ("queries", "0003_checks"),
    ]

    operations = [
        KeepGuards(
            migrations.AddField(
                model_name="query",
                name="facets",
                field=models.JSONField(
                    blank=True, default=list, help_text="Its subtopics in order: id and words of each."
                ),
            )
        ),
        KeepGuards(
            migrations.AddField(
                model_name="query",
                name="facets_locked_at",
                field=models.DateTimeField(
                    help_text="When a judgement first named its subtopics.", null=True
                ),
            )
        ),
        InstallGuards(GUARDS),
    ]
