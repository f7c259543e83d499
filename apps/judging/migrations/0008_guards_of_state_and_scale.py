from django.db import migrations

from apps.common.triggers import Guard, GuardReplacement, InstallGuards, same

BACKWARDS = """(OLD."state" = 'closed' AND NEW."state" <> 'closed')
  OR (OLD."state" = 'open' AND NEW."state" = 'opening')"""
MOVED_TIME = f"""(OLD."opened_at" IS NOT NULL AND NOT ({same("opened_at")}))
  OR (OLD."closed_at" IS NOT NULL AND NOT ({same("closed_at")}))"""
# Grades given mean what the scale said then, in decisions brought from elsewhere too.
SCALE_IN_USE = f"""NOT ({same("scale")}) AND (
  EXISTS (SELECT 1 FROM "judging_round" used JOIN "judging_judgement" given ON given."round_id" = used."id"
    WHERE used."project_id" = OLD."id")
  OR EXISTS (SELECT 1 FROM "judging_round" used JOIN "judging_adjudication" given ON given."round_id" = used."id"
    WHERE used."project_id" = OLD."id"))"""

GUARDS = [
    Guard("judging_round", "UPDATE", "a round that is closed stays closed", BACKWARDS, name="state"),
    Guard("judging_round", "UPDATE", "when a round was opened and closed is fixed", MOVED_TIME, name="times"),
    Guard("accounts_project", "UPDATE", "the scale is fixed since the first grade", SCALE_IN_USE, name="scale"),
    Guard("accounts_project", "DELETE", "a project is never deleted"),
]
TABLES = [
    "judging_adjudication",
    "judging_guideline",
    "judging_judgement",
    "judging_knownanswer",
    "judging_pilotdecision",
    "judging_round",
    "judging_seat",
]


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_secrets"), ("judging", "0007_kept_pairs")]

    operations = [InstallGuards(GUARDS), GuardReplacement(TABLES)]
