"""What a new round can be made of, and in a plain round the pairs leased to a person."""

import json
from typing import Any, NamedTuple

from django.db.models import F, QuerySet, Value

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.common.database.statements import prepared_cursor
from apps.judging.core.plan import PROPERTIES
from apps.judging.core.seeded_order import own_order, place_in_order
from apps.judging.models import Round
from apps.judging.selectors.reading import document_names_of
from apps.queries.models import Query
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool

# The last column: whether another document of the corpus has the same title. The title alone may not name it then.
LEASED = """
SELECT s.id, s.query_id, s.entry_id, q.outside_id, q.text, q.intent, q.description, b.outside_id, d.outside_id,
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
 WHERE s.round_id = %s AND s.annotator_id = %s AND s.state = 'leased'
"""


class LeasedPair(NamedTuple):
    """One row of LEASED."""

    seat_id: int
    query_id: int
    entry_id: int
    query: str
    text_of_query: str
    intent: str
    description: str
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
        """What `serializers.PairOut` gives for this pair."""
        query = {"id": self.query, "text": self.text_of_query, "intent": self.intent, "description": self.description}
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
        return {"seat": self.seat_id, "query": query, "block": block}


def leased_pairs(round_: Round, annotator_id: int, *, reached: int) -> list[dict[str, Any]]:
    """The pairs leased to this person in a plain round, in the order to grade them; `reached` is their query."""
    with prepared_cursor() as cursor:
        cursor.execute(LEASED, [round_.pk, annotator_id])
        pairs = [LeasedPair(*row) for row in cursor.fetchall()]
    own = own_order(round_.seed, annotator_id)
    pairs.sort(key=lambda pair: place_in_order(pair.query_id, pair.entry_id, reached, own))
    unclear = {pair.query_id for pair in pairs if pair.shares_title}
    names = document_names_of({round_.pool_id}, unclear) if unclear else {}
    return [pair.as_json(names.get(pair.entry_id) or pair.document_title or pair.document) for pair in pairs]


class RoundOffer(NamedTuple):
    """Annotators by name, pools newest first, and properties as key and words."""

    people: list[User]
    pools: list[Pool]
    properties: list[tuple[str, str]]


def round_offer(project: Project) -> RoundOffer:
    return RoundOffer(list(annotators_of(project)), list(pools_to_judge(project)), properties_in(project))


def annotators_of(project: Project) -> QuerySet[User]:
    """The people who may be asked to judge, by name."""
    return members_of(project, Role.ANNOTATOR)


def pools_to_judge(project: Project) -> QuerySet[Pool]:
    """The pools with pairs that a round can judge, newest first."""
    pools = Pool.objects.filter(project=project, state=PoolState.COMPLETE, entry_count__gt=0)
    return pools.exclude(kind=PoolKind.IMPORTED).select_related("snapshot").order_by("-pk")


def properties_in(project: Project) -> list[tuple[str, str]]:
    """The values that a remit can name in this project, "domain:security" and the like."""
    first, *others = [_values_of(project, place, name) for place, name in enumerate(PROPERTIES)]
    rows = first.union(*others).order_by("place", "value")
    named = [(PROPERTIES[place], value) for place, value in rows]
    return [(f"{name}:{value}", f"{name.replace('_', ' ')} {value}") for name, value in named]


def _values_of(project: Project, place: int, name: str) -> QuerySet:
    field = "source__slug" if name == "source" else name
    live = Query.objects.filter(project=project, retired_at=None).exclude(**{field: ""}).exclude(**{field: None})
    return live.order_by().annotate(place=Value(place), value=F(field)).values_list("place", "value")
