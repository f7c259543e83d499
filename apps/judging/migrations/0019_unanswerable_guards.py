from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, with_project

# A grade that a lead set to 0 since counts no more; one of an import that was undone never did.
RELEVANT = """NEW."is_nothing" AND EXISTS (
  SELECT 1 FROM "judging_judgement" given
  JOIN "retrieval_poolentry" pair ON pair."id" = given."entry_id"
  JOIN "judging_round" of ON of."id" = given."round_id"
  JOIN "corpus_snapshotblock" held ON held."version_id" = pair."version_id"
  WHERE pair."query_id" = NEW."query_id" AND held."snapshot_id" = NEW."snapshot_id"
    AND of."withdrawn_at" IS NULL AND given."grade" >= 1 AND given."pass_number" >= 1
    AND NOT EXISTS (SELECT 1 FROM "judging_judgement" later WHERE later."supersedes_id" = given."id")
    AND NOT EXISTS (
      SELECT 1 FROM "judging_adjudication" ruled
      WHERE ruled."round_id" = given."round_id" AND ruled."entry_id" = given."entry_id" AND ruled."grade" < 1
        AND NOT EXISTS (SELECT 1 FROM "judging_adjudication" after WHERE after."supersedes_id" = ruled."id")))"""

GUARDS = with_project(
    [
        *append_only("judging_unanswerablevote", "a vote on an unanswerable query"),
        Guard(
            "judging_unanswerablevote",
            "INSERT",
            "a query with a relevant passage is not unanswerable",
            RELEVANT,
            name="relevant",
        ),
    ],
    {"judging_unanswerablevote": "query_id queries_query project_id"},
)


class Migration(migrations.Migration):
    """Votes are append-only, and none says that nothing answers while a passage is graded relevant."""

    dependencies = [("judging", "0018_unanswerable_votes"), ("corpus", "0015_first_row")]

    operations = [InstallGuards(GUARDS)]
