import django.db.models.deletion
from django.db import migrations, models

from apps.common.database.derived_table_triggers import InstallKeepers, Keeper

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

KEEPERS = [
    # A second thought. A first grade is looked at once its seat is done, whichever of both is written first.
    Keeper("judging_judgement", "INSERT", "undecided", 'NEW."pass_number" = 1', (FORGET, LOOK), alone=PAIR, found=IS_DONE),
    Keeper(
        "judging_seat",
        'UPDATE OF "state"',
        "undecided",
        "NEW.\"pass_number\" = 1 AND NEW.\"state\" = 'done'",
        (FORGET, LOOK),
        alone=PAIR,
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
    """The pairs that need a lead's decision are kept as they change, so that counting them reads no grades."""

    dependencies = [
        ("judging", "0004_leaner_indexes"),
        ("retrieval", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="UndecidedPair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="retrieval.poolentry"
                    ),
                ),
                (
                    "oldest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="judging.judgement"
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="undecided", to="judging.round"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("round", "entry"), name="undecided_pair_once")],
            },
        ),
        InstallKeepers(KEEPERS, UNDECIDED.format(which="TRUE")),
    ]
