"""What a run returned: by text what each passage earns for one query, which were not located, and what it leaked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from django.http import Http404
from django.utils.safestring import SafeString

from apps.common.text.blocktext import Span, render
from apps.common.text.wording import percent
from apps.evaluation.core.earnings import FIRST
from apps.evaluation.execution.results import VersionTexts
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters.score_tables import EvaluationSheet, Named, block_names
from apps.evaluation.selectors import rankings
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionGrade, VersionQuery
from apps.metrics.by_text.index import word_places
from apps.metrics.columns import LOST, NOTHING, UNJUDGED, Covering, Judged
from apps.metrics.comparison import none_leaked
from apps.metrics.expected.rules import Returned, items_of
from apps.metrics.measures.diversity import is_closed_to
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measure
from apps.retrieval.execution.passage_location import locate_texts
from apps.retrieval.selectors.runs import returned_of


class TouchedBlock(NamedTuple):
    """A passage of ours that a returned one holds words of. `held` of its `words` are in this one passage."""

    named: Named
    grade: int | None
    held: int
    words: int
    is_earned: bool
    why: str
    html: SafeString

    @property
    def share(self) -> str:
        return percent(self.held / self.words, 0)


class ReturnedPassage(NamedTuple):
    """A returned passage by its rank from 1; `grade` is None where it earns none, `earns` says what it earns."""

    rank: int
    words: int
    grade: int | None
    earns: str
    html: SafeString
    blocks: list[TouchedBlock]


@dataclass
class ReturnedPassages:
    """The first passages of a run for one query of a version. Takes as many statements however many there are."""

    evaluation: Evaluation
    query: VersionQuery

    @cached_property
    def _texts(self) -> VersionTexts:
        return VersionTexts(self.evaluation.version, {self.query.query_id: 0})

    @cached_property
    def _covering(self) -> Covering:
        assert self.evaluation.rule is not None
        located = locate_texts(self.evaluation.version.snapshot, [one.text for one in self._returned])
        return self._texts.covering(located, self.evaluation.rule.share)

    @cached_property
    def _grades(self) -> dict[int, int]:
        return dict(VersionGrade.objects.filter(query=self.query).values_list("position", "grade"))

    @cached_property
    def _named(self) -> dict[int, Named]:
        return block_names(self.evaluation.version.snapshot, np.unique(self._covering.pieces.block).tolist())

    @cached_property
    def _covered_at(self) -> dict[int, int]:
        """The rank from 0 at which each block is covered."""
        return dict(zip(self._covering.block.tolist(), self._covering.rank.tolist(), strict=True))

    @property
    def passages(self) -> list[ReturnedPassage]:
        earned = self._covering.earnings(self._judged).grade.tolist()
        return [self._passage(rank, one, earned[rank]) for rank, one in enumerate(self._returned)]

    @cached_property
    def _returned(self) -> list[Returned]:
        tops = returned_of(self.evaluation.run, [self.query.query_id], with_text=True, depth=FIRST)
        return [one for _, top in tops for one in top]

    @property
    def _judged(self) -> Judged:
        rows = np.array([(0, *row) for row in self._grades.items()], dtype=np.int64).reshape(-1, 3)
        return Judged((self.query.outside_id,), rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy())

    def _passage(self, rank: int, returned: Returned, earned: int) -> ReturnedPassage:
        pieces = self._covering.pieces
        here = np.flatnonzero(pieces.rank == rank).tolist()
        spans = [(pieces.place[row], pieces.place[row] + pieces.last[row] - pieces.first[row]) for row in here]
        blocks = dict.fromkeys(int(pieces.block[row]) for row in here)
        return ReturnedPassage(
            rank=rank + 1,
            words=int(self._covering.words[rank]),
            grade=earned if earned >= 0 else None,
            earns=self._earns(earned),
            html=_lit(returned.text, spans, as_written=True),
            blocks=[self._block(rank, block, [row for row in here if pieces.block[row] == block]) for block in blocks],
        )

    def _earns(self, earned: int) -> str:
        named = {
            LOST: "Not located: its words are in no document of this snapshot. It counts as not relevant.",
            NOTHING: "It covers no passage that is new, and counts as not relevant.",
            UNJUDGED: "What it covers was not judged. It counts as not relevant.",
        }
        return named.get(earned) or f"It counts as grade {earned}."

    def _block(self, rank: int, block: int, rows: list[int]) -> TouchedBlock:
        pieces, named = self._covering.pieces, self._named[block]
        spans = [(int(pieces.first[row]), int(pieces.last[row])) for row in rows]
        held = len({word for first, last in spans for word in range(first, last)})
        words = int(self._covering.sizes[block])
        covered_at = self._covered_at.get(block)
        return TouchedBlock(
            named=named,
            grade=self._grades.get(block),
            held=held,
            words=words,
            is_earned=covered_at == rank,
            why=self._why(rank, block, held, words),
            html=_lit(named.version.text, spans, as_written=named.version.is_as_written),
        )

    def _why(self, rank: int, block: int, held: int, words: int) -> str:
        assert self.evaluation.rule is not None
        share, covered_at = self.evaluation.rule.share, self._covered_at.get(block)
        if covered_at is not None and covered_at < rank:
            return f"counted at rank {covered_at + 1} already"
        if covered_at is None or covered_at > rank:
            return f"nothing: less than {percent(share, 0)} of its words so far"
        if held >= share * words:
            how = f"{percent(held / words, 0)} of its words"
        elif (0, block) in self._texts.evidence:
            how = "all of its marked evidence"
        else:
            how = "enough of its words, together with the results above"
        grade = self._grades.get(block)
        return f"{'not judged' if grade is None else f'grade {grade}'}: {how}"


def _lit(text: str, spans: Iterable[tuple[int, int]], *, as_written: bool) -> SafeString:
    """The text with these words lit, each from … to before …."""
    places = word_places(text)
    lit: list[Span] = [(places[first][0], places[last - 1][1]) for first, last in spans if last <= len(places)]
    return render(text, lit, as_written=as_written)


class LostPassage(NamedTuple):
    """A passage that was not located: the query, the rank from 1, and its text."""

    query: VersionQuery
    rank: int
    text: str


def lost_passages(sheet: EvaluationSheet) -> list[LostPassage]:
    """Those of the stored ones whose query the reader may see on dev, in the order of the queries."""
    shown = {query.outside_id: query for query in shown_on_dev(sheet)}
    lost = [(shown[name], rank) for name, rank in sheet.evaluation.counts.get("lost_at", ()) if name in shown]
    keys = list(dict.fromkeys(query.query_id for query, _ in lost))
    texts = dict(returned_of(sheet.evaluation.run, keys, with_text=True, depth=FIRST))
    return [LostPassage(query, rank, texts[query.query_id][rank - 1].text) for query, rank in lost]


class Leak(NamedTuple):
    """A result that the role may not see: the query, the rank from 1, the block and the roles that may."""

    query: VersionQuery
    rank: int
    named: Named
    audience: str


def leak_measure(evaluation: Evaluation, name: str = "") -> Measure:
    """The measure of a role with this name that the evaluation has, else its first. Raises Http404 without one."""
    known = [measure for measure in map(parse_measure, evaluation.measures) if measure.role]
    if not known or not evaluation.is_scored:
        raise Http404("This evaluation counts no leaks.")
    return next((measure for measure in known if str(measure) == name), known[0])


@dataclass
class LeakList:
    """The leaks of a run by a measure of a role, on the queries of dev that the reader may see, by query and rank."""

    sheet: EvaluationSheet
    measure: Measure

    @cached_property
    def found(self) -> list[tuple[VersionQuery, int, int, str]]:
        """Query, rank, position and audience of each leak."""
        evaluation = self.sheet.evaluation
        results = rankings.first_results(evaluation.run, shown_on_dev(self.sheet), self.measure.cutoff or 0)
        audiences = rankings.audiences_at(evaluation.version, [position for *_, position in results])
        return [
            (query, rank, position, audiences[position])
            for query, rank, position in results
            if is_closed_to(self.measure.role, audiences[position])
        ]

    def rows(self, part: Sequence[tuple[VersionQuery, int, int, str]]) -> list[Leak]:
        """Some of those `found`, with the names of their blocks."""
        names = block_names(self.sheet.evaluation.version.snapshot, {position for _, _, position, _ in part})
        return [Leak(query, rank, names[position], audience) for query, rank, position, audience in part]

    @property
    def scores(self) -> list[Score]:
        """What was scored for the role down to the same rank."""
        known = [parse_measure(name) for name in self.sheet.scores]
        alike = [str(one) for one in known if (one.role, one.cutoff) == (self.measure.role, self.measure.cutoff)]
        return [self.sheet.scores[name] for name in alike]

    @property
    def bound(self) -> str:
        """How many queries may still leak where none did, exactly; "" where some did, or none was scored."""
        clean = next((one for one in self.scores if one.mean == 0 and one.n), None)
        if clean is None:
            return ""
        return none_leaked(clean.n, items_of(self.sheet.evaluation.hit)).strip()


def shown_on_dev(sheet: EvaluationSheet) -> list[VersionQuery]:
    """The queries of dev whose results the reader may see one by one. Of test nobody sees any here."""
    rows = zip(sheet.queries, sheet.visible, strict=True)
    return [query for query, shown in rows if shown and query.split == Split.DEV]
