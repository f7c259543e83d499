from django.db import migrations

from apps.common.database.derived_table_triggers import InstallKeepers, Keeper
from apps.common.database.functions import SetForFunctions
from apps.common.database.triggers import Guard, InstallGuards, append_only, same, with_project

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

PATHS = {
    "accounts_project": "id",
    "judging_adjudication": "round_id judging_round project_id",
    "judging_guideline": "project_id",
    "judging_judgement": "round_id judging_round project_id",
    "judging_keptpair": "round_id judging_round project_id",
    "judging_knownanswer": "round_id judging_round project_id",
    "judging_placeholderclaim": "project_id",
    "judging_pilotdecision": "round_id judging_round project_id",
    "judging_round": "project_id",
    "judging_seat": "round_id judging_round project_id",
}

GUARDS = with_project(
    [
        *append_only("judging_judgement", "a judgement"),
        *append_only("judging_adjudication", "an adjudication"),
        *append_only("judging_guideline", "a guideline version"),
        Guard(
            "judging_seat", "DELETE", "a seat is never deleted: a pair keeps the number of judges it was planned for"
        ),
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
        Guard(
            "judging_round",
            "UPDATE",
            "only a closed round of imported grades is withdrawn",
            'NEW."withdrawn_at" IS NOT NULL AND (OLD."kind" <> \'imported\' OR OLD."state" <> \'closed\')',
            name="withdrawing",
        ),
        Guard(
            "judging_round",
            "UPDATE",
            "a round that is withdrawn stays withdrawn",
            'OLD."withdrawn_at" IS NOT NULL AND NOT (' + same("withdrawn_at") + ")",
            name="withdrawn",
        ),
        Guard("judging_placeholderclaim", "DELETE", "a claim is never deleted; end it"),
        Guard(
            "judging_placeholderclaim",
            "UPDATE",
            "whom a claim joins is fixed, and an ended one stays ended",
            'OLD."ended_at" IS NOT NULL OR NOT ('
            + same("placeholder_id", "member_id", "project_id", "claimed_at")
            + ")",
        ),
    ],
    PATHS,
)

# Pairs whose judges have all answered without settling them, and which have no decision: the same as
# `selectors.pairs.adjudicable`. "Can't judge" counts against a majority, so a pair is undecided where no grade has more
# than half of the answers. Once a round is closed, the answers so far count as all.
UNDECIDED = """
INSERT INTO "judging_undecidedpair" ("round_id", "entry_id", "oldest_id")
SELECT p."round_id", p."entry_id", p."oldest" FROM (
  SELECT v."round_id", v."entry_id", MIN(v."oldest") AS "oldest" FROM (
    SELECT j."round_id", j."entry_id", CASE WHEN j."grade" IS NULL THEN 0 ELSE COUNT(*) END AS "top", COUNT(*) AS "n",
           MIN(j."id") AS "oldest"
    FROM "judging_judgement" j
    WHERE {which} AND j."pass_number" = 1
      AND NOT EXISTS (SELECT 1 FROM "judging_judgement" l WHERE l."supersedes_id" = j."id")
    GROUP BY j."round_id", j."entry_id", j."grade"
  ) v GROUP BY v."round_id", v."entry_id" HAVING 2 * MAX(v."top") <= SUM(v."n")
) p JOIN "judging_round" r ON r."id" = p."round_id"
WHERE r."state" <> 'opening'
  AND NOT EXISTS (
    SELECT 1 FROM "judging_adjudication" a WHERE a."round_id" = p."round_id" AND a."entry_id" = p."entry_id")
  AND (r."state" = 'closed' OR NOT EXISTS (
    SELECT 1 FROM "judging_seat" s WHERE s."round_id" = p."round_id" AND s."entry_id" = p."entry_id"
      AND s."pass_number" = 1 AND s."state" <> 'done'))"""

FORGET = 'DELETE FROM "judging_undecidedpair" WHERE "round_id" = NEW."round_id" AND "entry_id" = NEW."entry_id"'
LOOK = UNDECIDED.format(which='j."round_id" = NEW."round_id" AND j."entry_id" = NEW."entry_id"')
# Rounds that are being imported or carried over are looked at as a whole when they close.
PAIR = """(SELECT 'undecided pair ' || NEW."round_id" || ' ' || NEW."entry_id"
  FROM "judging_round" r WHERE r."id" = NEW."round_id" AND r."state" = 'open')"""

IS_DONE = 'EXISTS (SELECT 1 FROM "judging_seat" s WHERE s."id" = NEW."seat_id" AND s."state" = \'done\')'

# The pair of a first grade was looked at twice, once with the seat and once with the grade. Now it is the later of both.
IS_GIVEN = 'EXISTS (SELECT 1 FROM "judging_judgement" j WHERE j."seat_id" = NEW."id")'
# One grade of one judge settles a pair that nobody else is asked about.
MAY_CHANGE = """(NEW."grade" IS NULL OR NEW."supersedes_id" IS NOT NULL OR EXISTS (
  SELECT 1 FROM "judging_seat" o WHERE o."round_id" = NEW."round_id" AND o."entry_id" = NEW."entry_id"
    AND o."pass_number" = 1 AND o."id" <> NEW."seat_id"))"""

KEEPERS = [
    # A second thought. A first grade is looked at once its seat is done, whichever of both is written first.
    Keeper(
        "judging_judgement",
        "INSERT",
        "undecided",
        'NEW."pass_number" = 1',
        (FORGET, LOOK),
        alone=PAIR,
        found=f"{IS_DONE} AND {MAY_CHANGE}",
    ),
    Keeper(
        "judging_seat",
        'UPDATE OF "state"',
        "undecided",
        'NEW."pass_number" = 1 AND NEW."state" = \'done\'',
        (FORGET, LOOK),
        alone=PAIR,
        found=IS_GIVEN,
    ),
    # An extra judge is asked: the pair waits for them. The first seat of a pair is there before any answer.
    Keeper(
        "judging_seat",
        "INSERT",
        "asked_again",
        'NEW."pass_number" = 1 AND NEW."number" > 1 AND NEW."state" <> \'done\'',
        (FORGET,),
    ),
    Keeper("judging_adjudication", "INSERT", "decided", "TRUE", (FORGET,)),
    Keeper(
        "judging_round",
        'UPDATE OF "state"',
        "closed",
        "NEW.\"state\" = 'closed' AND OLD.\"state\" <> 'closed'",
        (
            'DELETE FROM "judging_undecidedpair" WHERE "round_id" = NEW."id"',
            UNDECIDED.format(which='j."round_id" = NEW."id"'),
        ),
    ),
]


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("judging", "0002_guards"),
        ("judging", "0003_withdrawn_rounds"),
        ("judging", "0005_undecided_pairs"),
        ("judging", "0006_fewer_looks"),
        ("judging", "0007_plain_steps"),
        ("judging", "0008_no_scans_of_grades"),
        ("judging", "0010_guard_claims"),
        ("judging", "0011_deleted_projects"),
    ]

    dependencies = [
        ("judging", "0001_tables"),
    ]

    operations = [
        InstallGuards(GUARDS),
        InstallKeepers(KEEPERS),
        # With each grade, the grades of one pair are found by an index, also in a table that the server has not counted.
        # A connection plans what a trigger does once: where the first grades were given before the table was counted, it
        # read all grades of all rounds for each further one.
        SetForFunctions([keeper.trigger for keeper in KEEPERS[:2]], "enable_seqscan", "off"),
    ]
