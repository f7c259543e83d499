from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, KeepGuards

# They are fixed when a judgement first names them, so that what it named cannot change after it.
NAMED = """NEW."facets" IS NOT NULL AND (
  NEW."grade" IS NULL OR (NEW."grade" < 1 AND NEW."facets" <> '[]') OR NOT EXISTS (
    SELECT 1 FROM "retrieval_poolentry" pair JOIN "queries_query" asked ON asked."id" = pair."query_id"
    WHERE pair."id" = NEW."entry_id" AND asked."facets_locked_at" IS NOT NULL))"""

GUARDS = [
    Guard(
        "judging_judgement",
        "INSERT",
        "only a grade names subtopics, from 1 on, and only those of a query whose subtopics are fixed",
        NAMED,
        name="facets",
    ),
]


def facets(model, words):
    return KeepGuards(migrations.AddField(model, "facets", models.JSONField(null=True, help_text=words)))


class Migration(migrations.Migration):
    """A judgement, and a decision, say which subtopics of the query a block answers. Those given before were not asked."""

    dependencies = [
        ("judging", "0016_second_grades"),
        ("queries", "0004_facets"),
        ("retrieval", "0003_usage"),
    ]

    operations = [
        facets("judgement", "Ids of the query's subtopics that the block answers. Empty: they were not asked."),
        facets("adjudication", "Ids of subtopics. Empty: those of at least half of the judges."),
        facets("helddecision", "Ids of subtopics, as those of a decision."),
        InstallGuards(GUARDS),
    ]
