from dataclasses import replace
from importlib import import_module

from django.db import migrations

from apps.common.database.derived_table_triggers import Keeper, ReplaceKeepers

OLD = import_module("apps.judging.migrations.0005_undecided_pairs").KEEPERS[:2]

# The pair of a first grade was looked at twice, once with the seat and once with the grade. Now it is the later of both.
IS_GIVEN = 'EXISTS (SELECT 1 FROM "judging_judgement" j WHERE j."seat_id" = NEW."id")'
# One grade of one judge settles a pair that nobody else is asked about.
MAY_CHANGE = """(NEW."grade" IS NULL OR NEW."supersedes_id" IS NOT NULL OR EXISTS (
  SELECT 1 FROM "judging_seat" o WHERE o."round_id" = NEW."round_id" AND o."entry_id" = NEW."entry_id"
    AND o."pass_number" = 1 AND o."id" <> NEW."seat_id"))"""


def _fewer(judgement: Keeper, seat: Keeper) -> list[Keeper]:
    return [replace(judgement, found=f"{judgement.found} AND {MAY_CHANGE}"), replace(seat, found=IS_GIVEN)]


class Migration(migrations.Migration):
    """The list of undecided pairs is the same; fewer changes look whether a pair belongs in it."""

    dependencies = [("judging", "0005_undecided_pairs")]

    operations = [ReplaceKeepers(OLD, _fewer(*OLD))]
