"""The pairs that are leased to a person, in the order in which they grade them, and who asks for pairs in the API."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.common.database.statements import LARGEST_KEY, prepared_cursor, row_of, rows_of
from apps.judging.core.plan import own_order, place_in_order
from apps.judging.enums import SeatState
from apps.judging.models import Guideline, Round, Seat
from apps.judging.selectors.reading import document_names_of


def leases_of(round_: Round, annotator: User) -> QuerySet[Seat]:
    """The seats that this person has leased and not graded."""
    return Seat.objects.filter(round=round_, annotator=annotator, state=SeatState.LEASED)


# Every seat with a person on it is leased or done, so that an index answers without a look at the seats. As a
# difference, for PostgreSQL would not use the index of leases for what is not leased.
JUDGED = """(
  (SELECT count(*) FROM judging_seat j WHERE j.round_id = %(round)s AND j.annotator_id = %(person)s)
  - (SELECT count(*) FROM judging_seat j
      WHERE j.round_id = %(round)s AND j.annotator_id = %(person)s AND j.state = 'leased'))"""


def judged_by(round_id: int, annotator_id: int) -> int:
    """How many pairs of the round this person has judged, repeated ones and checks included."""
    with prepared_cursor() as cursor:
        ((judged,),) = rows_of(cursor, f"SELECT {JUDGED}", {"round": round_id, "person": annotator_id})
    return int(judged)


class Leased(Protocol):
    """What the order of a leased pair depends on."""

    @property
    def pk(self) -> int: ...
    @property
    def query_id(self) -> int: ...
    @property
    def entry_id(self) -> int: ...
    @property
    def reserved_for_id(self) -> int | None: ...
    @property
    def due_after(self) -> int | None: ...


L = TypeVar("L", bound=Leased)


def in_order(pairs: Sequence[L], round_: Round, annotator_id: int, reached: int) -> list[L]:
    """Sort pairs in this person's order: queries as they were reached, pairs in their own order within.

    Reserved ones come first when they are due, last when they are not, the oldest first.
    """
    own = own_order(round_.seed, annotator_id)
    reserved = sorted((pair for pair in pairs if pair.reserved_for_id), key=lambda pair: pair.pk)
    judged = judged_by(round_.pk, annotator_id) if reserved else 0
    due = [pair for pair in reserved if (pair.due_after or 0) <= judged]
    early = [pair for pair in reserved if (pair.due_after or 0) > judged]
    others = [pair for pair in pairs if not pair.reserved_for_id]
    others.sort(key=lambda pair: place_in_order(pair.query_id, pair.entry_id, reached, own))
    return [*due, *others, *early]


# The last column: whether another document of the corpus has the same title. The title alone may not name it then.
LEASED = """
SELECT s.id, s.query_id, s.entry_id, s.reserved_for_id, s.due_after,
       q.outside_id, q.text, q.intent, q.description, q.facets, b.outside_id, d.outside_id,
       d.title, v.title, v.section_path, v.page_start, v.page_end, v.text, v.digest,
       EXISTS (SELECT 1 FROM corpus_document o
                WHERE o.corpus_id = d.corpus_id AND substr(o.title, 1, 200) = substr(d.title, 1, 200)
                  AND o.title = d.title AND o.id <> d.id)
  FROM judging_seat s
  JOIN queries_query q ON q.id = s.query_id
  JOIN retrieval_poolentry e ON e.id = s.entry_id
  JOIN corpus_blockversion v ON v.id = e.version_id
  JOIN corpus_block b ON b.id = v.block_id
  JOIN corpus_document d ON d.id = b.document_id
 WHERE s.round_id = %(round)s AND s.annotator_id = %(person)s AND s.state = 'leased'
"""


class LeasedPair(NamedTuple):
    """One row of LEASED: the seat, its query and its block."""

    pk: int
    query_id: int
    entry_id: int
    reserved_for_id: int | None
    due_after: int | None
    query: str
    text_of_query: str
    intent: str
    description: str
    facets: str
    block: str
    document: str
    document_title: str
    title: str
    section_path: str
    page_start: int | None
    page_end: int | None
    text: str
    digest: str
    shares_title: bool

    def as_json(self, document: str) -> dict[str, Any]:
        """The pair as `serializers.PairOut` describes it."""
        query = {
            "id": self.query,
            "text": self.text_of_query,
            "intent": self.intent,
            "description": self.description,
            "facets": json.loads(self.facets),
        }
        block = {
            "id": self.block,
            "document": document,
            "title": self.title,
            "section": json.loads(self.section_path),
            "page_start": self.page_start,
            "page_end": self.page_end,
            "text": self.text,
            "digest": self.digest,
        }
        return {"seat": self.pk, "query": query, "block": block}


def leased_pairs(round_: Round, annotator_id: int, *, reached: int) -> list[dict[str, Any]]:
    """The pairs leased to this person, in the order to grade them; `reached` is their query."""
    with prepared_cursor() as cursor:
        rows = rows_of(cursor, LEASED, {"round": round_.pk, "person": annotator_id})
    pairs = in_order([LeasedPair(*row) for row in rows], round_, annotator_id, reached)
    unclear = {pair.query_id for pair in pairs if pair.shares_title}
    names = document_names_of({round_.pool_id}, unclear) if unclear else {}
    return [pair.as_json(names.get(pair.entry_id) or pair.document_title or pair.document) for pair in pairs]


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
