from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, with_project

# A reviewer is never the author or a co-author: nobody who wrote any revision of the triple may hold a seat in it,
# and nobody who ever held a seat in it may write a revision.
SEAT_OF_AN_AUTHOR = """EXISTS (
  SELECT 1 FROM "triples_revision" mine JOIN "triples_revision" written ON written."triple_id" = mine."triple_id"
  WHERE mine."id" = NEW."revision_id" AND written."author_id" = NEW."reviewer_id")"""

REVISION_BY_A_REVIEWER = """EXISTS (
  SELECT 1 FROM "review_reviewseat" seat JOIN "triples_revision" reviewed ON reviewed."id" = seat."revision_id"
  WHERE reviewed."triple_id" = NEW."triple_id" AND seat."reviewer_id" = NEW."author_id")"""

KEEPS_ITS_PLACE = """NEW."reviewer_id" <> OLD."reviewer_id" OR NEW."revision_id" <> OLD."revision_id"
  OR NEW."number" <> OLD."number" OR (OLD."released_at" IS NOT NULL AND NEW."released_at" IS NULL)"""

ANSWERED = """NEW."released_at" IS NOT NULL AND OLD."released_at" IS NULL
  AND EXISTS (SELECT 1 FROM "review_verdict" given WHERE given."seat_id" = OLD."id")"""

SEAT_OF_AN_OWNER = """EXISTS (
  SELECT 1 FROM "triples_revision" mine JOIN "triples_triple" owned ON owned."id" = mine."triple_id"
  WHERE mine."id" = NEW."revision_id"
    AND (owned."author_id" = NEW."reviewer_id" OR owned."adopted_by_id" = NEW."reviewer_id"))"""

NOT_FROM_OWN_SEAT = """NOT EXISTS (
  SELECT 1 FROM "review_reviewseat" seat WHERE seat."id" = NEW."seat_id"
    AND seat."reviewer_id" = NEW."reviewer_id" AND seat."revision_id" = NEW."revision_id")"""

REPLACES_ANOTHERS = """NEW."supersedes_id" IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM "review_verdict" former WHERE former."id" = NEW."supersedes_id"
    AND former."reviewer_id" = NEW."reviewer_id" AND former."revision_id" = NEW."revision_id")"""

HANDED_TO_A_REVIEWER = """NEW."author_id" <> OLD."author_id" AND EXISTS (
  SELECT 1 FROM "review_reviewseat" seat JOIN "triples_revision" reviewed ON reviewed."id" = seat."revision_id"
  WHERE reviewed."triple_id" = NEW."triple_id" AND seat."reviewer_id" = NEW."author_id")"""

OWNED_BY_A_REVIEWER = """EXISTS (
  SELECT 1 FROM "review_reviewseat" seat JOIN "triples_revision" reviewed ON reviewed."id" = seat."revision_id"
  WHERE reviewed."triple_id" = NEW."id"
    AND (seat."reviewer_id" = NEW."author_id" OR seat."reviewer_id" = NEW."adopted_by_id"))"""

CHANGES_OWNER = """(NEW."author_id" <> OLD."author_id"
  OR (NEW."adopted_by_id" IS NOT NULL AND OLD."adopted_by_id" IS NULL))"""

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

REPLACES_ANOTHERS_ANSWER = """NEW."supersedes_id" IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM "review_candidateanswer" former WHERE former."id" = NEW."supersedes_id"
    AND former."reviewer_id" = NEW."reviewer_id" AND former."candidate_id" = NEW."candidate_id"
    AND former."number" = NEW."number")"""

NOTE_IS_KEPT = """NEW."triple_id" <> OLD."triple_id" OR NEW."kind" <> OLD."kind" OR NEW."passage" <> OLD."passage"
  OR NEW."text" <> OLD."text" OR NEW."made_by_id" <> OLD."made_by_id" OR OLD."withdrawn_at" IS NOT NULL"""

PATHS = {
    "review_candidateanswer": "candidate_id review_candidateblock triple_id triples_triple project_id",
    "review_candidateblock": "triple_id triples_triple project_id",
    "review_disputemessage": "triple_id triples_triple project_id",
    "review_missnote": "triple_id triples_triple project_id",
    "review_resolution": "triple_id triples_triple project_id",
    "review_reviewseat": "revision_id triples_revision triple_id triples_triple project_id",
    "review_verdict": "revision_id triples_revision triple_id triples_triple project_id",
}

GUARDS = with_project(
    [
        *append_only("review_verdict", "a verdict"),
        *append_only("review_disputemessage", "a message"),
        *append_only("review_resolution", "a resolution"),
        Guard("review_reviewseat", "INSERT", "nobody reviews what they wrote", SEAT_OF_AN_AUTHOR),
        Guard("review_reviewseat", "DELETE", "a seat is released, never deleted"),
        Guard("triples_revision", "INSERT", "nobody writes what they review", REVISION_BY_A_REVIEWER),
        Guard("review_reviewseat", "UPDATE", "a seat keeps its place and its reviewer", KEEPS_ITS_PLACE, name="place"),
        Guard("review_reviewseat", "UPDATE", "a seat that has answered is never given away", ANSWERED, name="answered"),
        Guard("review_reviewseat", "INSERT", "nobody reviews what they wrote", SEAT_OF_AN_OWNER, name="owner"),
        Guard(
            "review_verdict", "INSERT", "a verdict comes from its reviewer's own seat", NOT_FROM_OWN_SEAT, name="seat"
        ),
        Guard("review_verdict", "INSERT", "a verdict replaces only its reviewer's own", REPLACES_ANOTHERS, name="own"),
        Guard("triples_revision", "UPDATE", "nobody writes what they review", HANDED_TO_A_REVIEWER, name="author"),
        Guard(
            "triples_triple",
            "UPDATE",
            "nobody owns what they review",
            f"{CHANGES_OWNER} AND {OWNED_BY_A_REVIEWER}",
            name="owner",
        ),
        *append_only("review_candidateanswer", "an answer about a candidate block"),
        Guard("review_candidateblock", "DELETE", "a candidate block is withdrawn, never deleted"),
        Guard(
            "review_candidateblock", "UPDATE", "a candidate block keeps what it asks", KEEPS_WHAT_IT_ASKS, name="asks"
        ),
        Guard("review_candidateblock", "UPDATE", "a closed candidate block is never changed", IS_CLOSED, name="closed"),
        Guard(
            "review_candidateanswer",
            "INSERT",
            "nobody answers about what they wrote or proposed",
            BY_SOMEBODY_INVOLVED,
            name="involved",
        ),
        Guard("review_candidateanswer", "INSERT", "both answers are in", AFTER_BOTH, name="closed"),
        Guard(
            "review_candidateanswer", "INSERT", "an answer replaces only its own", REPLACES_ANOTHERS_ANSWER, name="own"
        ),
        Guard("review_missnote", "DELETE", "a note is taken back, never deleted"),
        Guard("review_missnote", "UPDATE", "a note is taken back, never changed", NOTE_IS_KEPT),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("review", "0002_guards"),
        ("review", "0004_candidate_guards"),
        ("review", "0005_deleted_projects"),
    ]

    dependencies = [
        ("review", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]
