"""The misses of an evaluation on Q&As as one person reads them, and what they propose there: for pages and the API."""

from datetime import datetime

from django.http import Http404

from apps.accounts.selectors import Member
from apps.common.errors import Refusal
from apps.corpus.models import BlockVersion
from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.hit_score_tables import HitSheet
from apps.evaluation.selectors.misses import Miss, Missed, MissRow, miss_rows
from apps.metrics.measures.registry import parse_measure
from apps.review.actions.candidate_blocks import propose_block
from apps.review.models import CandidateBlock
from apps.triples.core.evidence import Span, spans_of

HIDDEN, NOT_RIGHT, NOT_MARKED = "hidden", "not_also_right", "not_marked"


class MissRefused(Refusal):
    """What was returned for a missed question cannot be proposed as right as well."""


class MissList:
    """The misses of an evaluation that one person may see, by label. `measure` has the cutoff; else it is the first."""

    def __init__(self, evaluation: Evaluation, member: Member, *, measure: str = "") -> None:
        self.evaluation = evaluation
        self.member = member
        self.sheet = HitSheet(evaluation, member)
        self.measure = measure if measure in evaluation.measures else evaluation.measures[0]
        self.cutoff = parse_measure(self.measure).cutoff or 1
        self.places = self.sheet.missed(self.measure)

    def __len__(self) -> int:
        return len(self.places)

    def at(self, place: int, read: int = 1) -> Miss:
        """The miss at a place, from 1, with the passage at rank `read`. Raises Http404 for one that there is not."""
        if not 1 <= place <= len(self.places):
            raise Http404("There is no such miss.")
        inside = self.places[place - 1]
        return Miss(
            self.evaluation,
            self.sheet.triples[inside],
            hit_rank=int(self.sheet.ranks[inside]),
            cutoff=self.cutoff,
            read=read,
            member=self.member,
        )

    def of(self, label: str, read: int = 1) -> Miss:
        """The miss of the triple with this label. Raises Http404 where it is none."""
        for place, inside in enumerate(self.places, start=1):
            if self.sheet.triples[inside].label == label:
                return self.at(place, read)
        raise Http404("There is no such miss.")

    @property
    def missed(self) -> list[Missed]:
        """All of them, with their places from 1."""
        triples, ranks = self.sheet.triples, self.sheet.ranks
        return [Missed(place, triples[at], int(ranks[at]), self.cutoff) for place, at in enumerate(self.places, 1)]

    def rows(self, missed: list[Missed]) -> list[MissRow]:
        """Some of `missed`, with what was returned for each."""
        return miss_rows(self.evaluation, missed, self.member)


def propose(listed: MissList, found: Miss, *, version: BlockVersion | None, quote: str, at: datetime) -> CandidateBlock:
    """Ask two reviewers whether a passage that was returned is right as well: key `a` of the page.

    `version` says which of our passages it is, where the system cut it itself. `quote` are the words in it that count;
    "" for all of its text.
    """
    if found.hidden:
        raise MissRefused(found.hidden, code=HIDDEN)
    if found.read is not None and found.read.entry is not None:
        version = None if found.also_right_refusal else found.read.entry.version
    if found.read is None or version is None:
        refusal = found.also_right_refusal if found.read else "Nothing was returned, so nothing can be right."
        raise MissRefused(refusal, code=NOT_RIGHT)
    (span,) = spans_of(version.text, [quote])
    if quote and span is None:
        sentence = "The words that you marked are not in the text in this form. Mark fewer, or none."
        raise MissRefused(sentence, code=NOT_MARKED)
    spans: list[Span] = [span] if span else []
    return propose_block(
        project=listed.member.project,
        triple_id=found.row.triple_id,
        version=version,
        spans=spans,
        person=listed.member.user,
        evaluation=listed.evaluation.pk,
        at=at,
    )
