from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, same

PLAN = [
    "project_id",
    "pool_id",
    "guideline_id",
    "number",
    "kind",
    "judges",
    "overlap_share",
    "seed",
]

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
    *append_only("judging_judgement", "a judgement"),
    *append_only("judging_adjudication", "an adjudication"),
    *append_only("judging_guideline", "a guideline version"),
    Guard("judging_seat", "DELETE", "a seat is never deleted: a pair keeps the number of judges it was planned for"),
    Guard("judging_seat", "UPDATE", "a judged seat is fixed and cannot be changed", "OLD.state = 'done'"),
    Guard(
        "judging_round",
        "UPDATE",
        "the plan of a round is fixed once it is open",
        "OLD.state <> 'opening' AND NOT (" + same(*PLAN) + ")",
        name="plan",
    ),
    Guard("judging_round", "DELETE", "a round is never deleted"),
    *append_only("judging_knownanswer", "a known answer"),
    *append_only("judging_pilotdecision", "the decision on a pilot"),
    Guard(
        "judging_round",
        "UPDATE",
        "the plan of a round is fixed once it is open",
        "OLD.state <> 'opening' AND NOT (" + same("plan") + ")",
        name="rest_of_plan",
    ),
    *append_only("judging_keptpair", "a pair that keeps its grade"),
    Guard("judging_round", "UPDATE", "a round that is closed stays closed", BACKWARDS, name="state"),
    Guard("judging_round", "UPDATE", "when a round was opened and closed is fixed", MOVED_TIME, name="times"),
    Guard("accounts_project", "UPDATE", "the scale is fixed since the first grade", SCALE_IN_USE, name="scale"),
    Guard("accounts_project", "DELETE", "a project is never deleted"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("judging", "0001_initial"),
        ("accounts", "0001_initial"),
    ]

    operations = [InstallGuards(GUARDS)]
