"""What people said about missed questions and the passages returned for them, since the version was released."""

from collections import defaultdict
from collections.abc import Collection
from operator import itemgetter

from django.db.models import BigIntegerField, F, Value

from apps.evaluation.core.misses import known_of
from apps.goldsets.models import VersionTriple
from apps.review.enums import CandidateState, NoteKind
from apps.review.models import CandidateBlock, MissNote
from apps.triples.models import ExpectedBlock

NOTE, CANDIDATE, EXPECTED = range(3)


class SaidSince:
    """What is known of these triples now, read in one statement.

    Notes on misses count for the wording that they are about, unless they were taken back. The blocks that a triple
    expects now may be more than the released ones.
    """

    def __init__(self, triple_ids: Collection[int]) -> None:
        self._wrong: dict[tuple[int, str], list[str]] = defaultdict(list)
        self._doubted: set[tuple[int, str]] = set()
        self._states: dict[int, dict[int, str]] = defaultdict(dict)
        self._expected: dict[int, set[int]] = defaultdict(set)
        for _, what, triple, version, word, passage, question in sorted(_rows(triple_ids), key=itemgetter(0)):
            if what == EXPECTED:
                self._expected[triple].add(version)
            elif what == CANDIDATE:
                self._states[triple][version] = word
            elif word == NoteKind.WRONG:
                self._wrong[triple, question].append(passage)
            elif word == NoteKind.UNCLEAR:
                self._doubted.add((triple, question))

    def about(self, row: VersionTriple, digest: str, version_id: int | None) -> str:
        """What is known about a passage, for the question as released; "" when nobody has said anything.

        The passage is named by the digest of its text, and by the block version that it is, if any.
        """
        return known_of(
            digest,
            version_id,
            wrong=self._wrong.get(_wording(row), []),
            expected=self._expected.get(row.triple_id, set()),
            states=self._states.get(row.triple_id, {}),
        )

    def doubts(self, row: VersionTriple) -> bool:
        """Whether somebody finds the question as released unclear."""
        return _wording(row) in self._doubted


def _wording(row: VersionTriple) -> tuple[int, str]:
    return row.triple_id, row.content["question"]


def _rows(triple_ids: Collection[int]) -> list[tuple]:
    """Key, NOTE or another, triple, block version, kind or state, passage, question."""
    nothing, none = Value(""), Value(None, output_field=BigIntegerField())
    notes = MissNote.objects.filter(triple__in=triple_ids, withdrawn_at=None)
    candidates = CandidateBlock.objects.filter(triple__in=triple_ids).exclude(state=CandidateState.WITHDRAWN)
    expected = ExpectedBlock.objects.filter(revision__triple__in=triple_ids, revision=F("revision__triple__current"))
    return list(
        notes.order_by()
        .values_list("pk", Value(NOTE), "triple", none, "kind", "passage", "revision__question")
        .union(
            candidates.order_by().values_list("pk", Value(CANDIDATE), "triple", "version", "state", nothing, nothing),
            expected.order_by().values_list(
                "pk", Value(EXPECTED), "revision__triple", "version", nothing, nothing, nothing
            ),
            all=True,
        )
    )
