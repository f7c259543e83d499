"""The pairs that a person has leased, as the API gives them: one statement, whatever their number."""

import json
from typing import Any, NamedTuple

from apps.common.database.statements import prepared_cursor
from apps.judging.core.seeded_order import own_order, place_in_order
from apps.judging.models import Round
from apps.judging.selectors.reading import document_names_of

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
