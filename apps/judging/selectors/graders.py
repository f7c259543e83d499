"""Who asks for a pair or sends a grade, and in which round: everything the two requests decide on, in one statement."""

import json
from typing import Any, NamedTuple

from django.http import Http404

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.common.database.statements import LARGEST_KEY, prepared_cursor, row_of, rows_of
from apps.judging.models import Guideline, Round

PROJECT = ("id", "slug", "name", "scale", "archived_at")
ROUND = (
    "id", "project_id", "pool_id", "guideline_id", "number", "name", "state", "overlap_share", "judges", "seed", "plan",
    "lease_minutes",
)  # fmt: skip
GUIDELINE = ("id", "number")

# A row for each role; without a round for somebody who is no annotator of it.
GRADER = f"""
SELECT m.role, {", ".join(f"p.{name}" for name in PROJECT)}, {", ".join(f"r.{name}" for name in ROUND)},
       {", ".join(f"g.{name}" for name in GUIDELINE)}
  FROM accounts_membership m
  JOIN accounts_user u ON u.id = m.user_id
  JOIN accounts_project p ON p.id = m.project_id
  LEFT JOIN judging_round r ON r.id = %(round)s AND r.project_id = p.id
        AND EXISTS (SELECT 1 FROM judging_roundannotator a WHERE a.round_id = r.id AND a.annotator_id = u.id)
  LEFT JOIN judging_guideline g ON g.id = r.guideline_id
 WHERE p.slug = %(slug)s AND m.user_id = %(person)s AND m.ended_at IS NULL AND u.is_active
"""


class Grader(NamedTuple):
    """A member of a project, and the round in which they are an annotator; its other fields are read when asked for."""

    member: Member
    round: Round | None


def grader_of(user: User, slug: str, pk: int) -> Grader:
    """As `membership_in` and `own_round`. Http404 for strangers."""
    with prepared_cursor() as cursor:
        rows = rows_of(cursor, GRADER, {"round": min(pk, LARGEST_KEY), "slug": slug, "person": user.pk})
    if not rows:
        raise Http404("No such project.")
    _, *values = rows[0]
    project = row_of(Project, _named(PROJECT, values, json_in="scale"))
    member = Member(user=user, project=project, roles=frozenset(role for role, *_ in rows))
    found = _named(ROUND, values[len(PROJECT) :], json_in="plan")
    if found["id"] is None:
        return Grader(member, None)
    round_ = row_of(Round, found)
    round_.project = project
    if round_.guideline_id is not None:
        round_.guideline = row_of(Guideline, _named(GUIDELINE, values[len(PROJECT) + len(ROUND) :]))
    return Grader(member, round_)


def _named(names: tuple[str, ...], values: list[Any], *, json_in: str = "") -> dict[str, Any]:
    found = dict(zip(names, values, strict=False))
    if json_in and found[json_in]:
        found[json_in] = json.loads(found[json_in])
    return found
