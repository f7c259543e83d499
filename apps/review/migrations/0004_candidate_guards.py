from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only

KEEPS_WHAT_IT_ASKS = """NEW."triple_id" <> OLD."triple_id" OR NEW."version_id" <> OLD."version_id"
  OR NEW."proposed_by_id" <> OLD."proposed_by_id" OR NEW."proposed_at" <> OLD."proposed_at\""""

IS_CLOSED = """OLD."closed_at" IS NOT NULL"""

BY_SOMEBODY_INVOLVED = """EXISTS (
  SELECT 1 FROM "review_candidateblock" asked JOIN "triples_triple" owned ON owned."id" = asked."triple_id"
  WHERE asked."id" = NEW."candidate_id" AND (asked."proposed_by_id" = NEW."reviewer_id"
    OR owned."author_id" = NEW."reviewer_id" OR owned."adopted_by_id" = NEW."reviewer_id"))
  OR EXISTS (
  SELECT 1 FROM "review_candidateblock" asked JOIN "triples_revision" written
    ON written."triple_id" = asked."triple_id"
  WHERE asked."id" = NEW."candidate_id" AND written."author_id" = NEW."reviewer_id")"""

AFTER_BOTH = """NOT EXISTS (
  SELECT 1 FROM "review_candidateblock" asked WHERE asked."id" = NEW."candidate_id" AND asked."state" = 'open')"""

REPLACES_ANOTHERS = """NEW."supersedes_id" IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM "review_candidateanswer" former WHERE former."id" = NEW."supersedes_id"
    AND former."reviewer_id" = NEW."reviewer_id" AND former."candidate_id" = NEW."candidate_id"
    AND former."number" = NEW."number")"""

NOTE_IS_KEPT = """NEW."triple_id" <> OLD."triple_id" OR NEW."kind" <> OLD."kind" OR NEW."passage" <> OLD."passage"
  OR NEW."text" <> OLD."text" OR NEW."made_by_id" <> OLD."made_by_id" OR OLD."withdrawn_at" IS NOT NULL"""

GUARDS = [
    *append_only("review_candidateanswer", "an answer about a candidate block"),
    Guard("review_candidateblock", "DELETE", "a candidate block is withdrawn, never deleted"),
    Guard("review_candidateblock", "UPDATE", "a candidate block keeps what it asks", KEEPS_WHAT_IT_ASKS, name="asks"),
    Guard("review_candidateblock", "UPDATE", "a closed candidate block is never changed", IS_CLOSED, name="closed"),
    Guard(
        "review_candidateanswer",
        "INSERT",
        "nobody answers about what they wrote or proposed",
        BY_SOMEBODY_INVOLVED,
        name="involved",
    ),
    Guard("review_candidateanswer", "INSERT", "both answers are in", AFTER_BOTH, name="closed"),
    Guard("review_candidateanswer", "INSERT", "an answer replaces only its own", REPLACES_ANOTHERS, name="own"),
    Guard("review_missnote", "DELETE", "a note is taken back, never deleted"),
    Guard("review_missnote", "UPDATE", "a note is taken back, never changed", NOTE_IS_KEPT),
]


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0003_candidate_blocks"),
        ("triples", "0003_asked_revisions"),
    ]

    operations = [InstallGuards(GUARDS)]
