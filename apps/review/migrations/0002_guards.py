from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, append_only

# A reviewer is never the author or a co-author: nobody who wrote any revision of the triple may hold a seat in it,
# and nobody who ever held a seat in it may write a revision.
SEAT_OF_AN_AUTHOR = """EXISTS (
  SELECT 1 FROM "triples_revision" mine JOIN "triples_revision" written ON written."triple_id" = mine."triple_id"
  WHERE mine."id" = NEW."revision_id" AND written."author_id" = NEW."reviewer_id")"""
REVISION_BY_A_REVIEWER = """EXISTS (
  SELECT 1 FROM "review_reviewseat" seat JOIN "triples_revision" reviewed ON reviewed."id" = seat."revision_id"
  WHERE reviewed."triple_id" = NEW."triple_id" AND seat."reviewer_id" = NEW."author_id")"""

GUARDS = [
    *append_only("review_verdict", "a verdict"),
    *append_only("review_disputemessage", "a message"),
    *append_only("review_resolution", "a resolution"),
    Guard("review_reviewseat", "INSERT", "nobody reviews what they wrote", SEAT_OF_AN_AUTHOR),
    Guard("review_reviewseat", "DELETE", "a seat is released, never deleted"),
    Guard("triples_revision", "INSERT", "nobody writes what they review", REVISION_BY_A_REVIEWER),
]


class Migration(migrations.Migration):
    dependencies = [("review", "0001_initial"), ("triples", "0002_guards")]

    operations = [InstallGuards(GUARDS)]
