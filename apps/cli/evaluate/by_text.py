"""Grades by text for a system that cuts its own passages: what it returned is located in the texts of the release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.score.by_text import CorpusTexts, LocatedRun, Returns, blocks_of_run, refuse_by_text, scored_by_text
from apps.common.text.wording import plural
from apps.metrics.by_text.coverage import Evidence
from apps.metrics.columns import BlockIds, Judged, Ranked
from apps.metrics.expected.rules import BLOCK, EVIDENCE, HitRule, Returned
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.measure_input import Pass
from apps.metrics.scorecard import ScoredRun
from apps.metrics.vocabulary import Vocabulary

MEASURE_SO = "--hit text measures them by text."


class Answers(Protocol):
    """What a system returned for the graded queries: ids as columns, None without any, and passages by query."""

    @property
    def name(self) -> str: ...

    @property
    def ranked(self) -> Ranked | None: ...

    @property
    def ids(self) -> BlockIds: ...

    @property
    def passages(self) -> Returns: ...

    @property
    def returned(self) -> Mapping[str, Sequence[Returned]]: ...


class TextRun(NamedTuple):
    """A run that was measured by text: what was returned for each graded query, and what that earns."""

    passages: Returns
    ranking: Pass


def texts_without_ids(passages: Returns, blocks: Mapping[str, Returned]) -> str:
    """That most results could be measured by text alone, as a sentence; "" where they could not, or need not."""
    rows = list(chain.from_iterable(passages.values()))
    own = sum(bool(one.text) and one.id not in blocks for one in rows)
    if not blocks or 2 * own <= len(rows):
        return ""
    has = "has" if own == 1 else "have"
    return f"{own:,} of {plural(len(rows), 'result')} {has} a text and no id of the release; {MEASURE_SO}"


class ReleaseTexts:
    """The texts of a release, in which the answers to its graded queries are located once they are asked for."""

    def __init__(self, release: ReleaseSplit, answered: Sequence[Answers]) -> None:
        self.release = release
        self.answered = answered

    @cached_property
    def corpus(self) -> CorpusTexts:
        numbers = Vocabulary()
        judged = self.release.judged(numbers)
        return CorpusTexts(self.release.blocks, numbers, judged)

    @property
    def judged(self) -> Judged:
        return self.corpus.judged

    @cached_property
    def passages(self) -> list[Returns]:
        """What each system returned; of a run of blocks their texts."""
        return [one.passages or self._of_run(one.ranked, one.ids) for one in self.answered]

    def _of_run(self, ranked: Ranked | None, ids: BlockIds) -> Returns:
        return {} if ranked is None else blocks_of_run(ranked, ids, self.judged, self.release.blocks)

    @cached_property
    def located(self) -> list[LocatedRun]:
        return [self.corpus.located(one) for one in self.passages]

    @cached_property
    def evidence(self) -> Evidence:
        """The words that the Q&As of the release mark in blocks, for the graded queries that ask them.

        A block with evidence whose words are not found in it has none.
        """
        places = {query: place for place, query in enumerate(self.judged.queries)}
        marked: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        numbers = dict(zip(self.release.blocks, self.corpus.known.tolist(), strict=True))
        for triple in self.release.triples:
            if triple.question.query_id in places:
                for block, texts in triple.marked.items():
                    marked[places[triple.question.query_id], block] += texts
        evidence = {}
        for (place, block), wanted in marked.items():
            if block in numbers:
                spans = [self.corpus.index.place_in(numbers[block], text) for text in wanted]
                found = [span for span in spans if span is not None]
                if found and len(found) == len(wanted):
                    evidence[place, numbers[block]] = found
        return evidence

    def names_blocks(self, place: int, judged: Judged) -> bool:
        """Whether this system names a block by its id, a graded one or another of the corpus, or returned nothing."""
        one = self.answered[place]
        if one.ranked is None:
            return False
        if not one.passages or np.isin(one.ranked.block, judged.block).any():
            return True
        return any(told.id in self.release.blocks for told in chain.from_iterable(one.passages.values()))

    def hit_rule(self) -> HitRule:
        """What triples are measured by: by ids where each system names a block of the release, or not each has texts.

        One that returns nothing names none and has no text.
        """
        known = self.release.blocks.keys() | {
            block.block_id for question in self.release.questions for block in question.expected
        }
        rows = [list(chain.from_iterable(one.returned.values())) for one in self.answered]
        names_all = all(any(told.id in known for told in one) for one in rows)
        have_texts = all(any(told.text for told in one) for one in rows)
        return HitRule(EVIDENCE if have_texts and not names_all else BLOCK)

    def can_locate(self, place: int) -> bool:
        """Whether this system returned any text that could be located."""
        return bool(self.release.blocks) and any(one.text for rows in self.passages[place].values() for one in rows)

    def scored(self, measures: Mapping[str, Measure], rule: HitRule, confidence: float) -> list[ScoredRun]:
        """The scores of every system. Raises MeasureError for a measure that needs more than grades and words."""
        refuse_by_text(list(measures.values()))
        return [
            scored_by_text(one.name, run, measures, rule.share, evidence=self.evidence, confidence=confidence)
            for one, run in zip(self.answered, self.located, strict=True)
        ]

    def text_run(self, rule: HitRule) -> TextRun:
        """What the last of the systems earns."""
        covered = self.located[-1].covering(rule.share, self.evidence)
        return TextRun(self.passages[-1], Pass(self.judged, covered, self.corpus.ids))
