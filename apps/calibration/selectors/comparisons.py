"""Comparison of the two people of a calibration: with each other, and with the decision of the past round."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from apps.calibration.models import Calibration, CalibrationItem, CalibrationVerdict
from apps.calibration.selectors.calibrations import live_verdicts
from apps.metrics.agreement.pairs import cohen_kappa
from apps.metrics.agreement.ratings import Rate
from apps.metrics.agreement.results import Coefficient, undefined
from apps.review.core.visibility import ASPECTS, aspects_flagged
from apps.review.enums import Category, Reason, VerdictChoice
from apps.review.models import Verdict
from apps.triples.models import Triple

CHOICE = "choice"
WORDS = {CHOICE: "Confirm or flag", "block": "Passage"}


class WordedVerdict(NamedTuple):
    """A verdict, also in words."""

    who: str
    choice: str
    reasons: list[str]
    category: str
    note: str

    @property
    def is_flag(self) -> bool:
        return self.choice == VerdictChoice.FLAG

    @property
    def words(self) -> str:
        return in_words(self.choice, self.reasons, self.category)


@dataclass(frozen=True)
class ComparedItem:
    """One item with the decision of its past round; `first` is the subject's answer, `second` the partner's."""

    item: CalibrationItem
    triple: Triple
    first: WordedVerdict | None
    second: WordedVerdict | None
    then: list[WordedVerdict]
    is_alike: bool | None

    @property
    def then_words(self) -> str:
        flags = sum(verdict.is_flag for verdict in self.then)
        return ("Both confirmed", "One confirmed, one flagged", "Both flagged")[min(flags, 2)]


@dataclass(frozen=True)
class QuestionFigure:
    """Agreement of the two on one question: confirm or flag ("choice"), or one of the three aspects."""

    aspect: str
    alike: Rate
    kappa: Coefficient

    @property
    def word(self) -> str:
        return WORDS.get(self.aspect) or self.aspect.capitalize()


@dataclass(frozen=True)
class SittingComparison:
    rows: list[ComparedItem]
    figures: list[QuestionFigure]


def in_words(choice: str, reasons: list[str], category: str) -> str:
    if choice != VerdictChoice.FLAG:
        return "confirmed"
    named = [str(Reason(reason).label).removeprefix("Answer ") for reason in reasons]
    return ", ".join([*named, *([str(Category(category).label)] if category else [])]).lower()


def _worded(verdict: CalibrationVerdict | Verdict, who: str) -> WordedVerdict:
    return WordedVerdict(who, verdict.choice, verdict.reasons, verdict.category, verdict.note)


def comparison(calibration: Calibration) -> SittingComparison:
    """Both answers to each item, the past decision, and the agreement of the two. Only once nobody is blind."""
    items = list(calibration.items.select_related("revision__triple").order_by("number"))
    by_item = {
        (verdict.item_id, verdict.person_id): verdict
        for verdict in live_verdicts().filter(item__calibration=calibration)
    }
    then: defaultdict[int, list[WordedVerdict]] = defaultdict(list)
    past = Verdict.objects.filter(revision__in=[item.revision_id for item in items], superseded_by=None)
    for verdict in past.select_related("reviewer").order_by("seat__number"):
        then[verdict.revision_id].append(_worded(verdict, str(verdict.reviewer)))
    rows, pairs = [], []
    for item in items:
        first, second = by_item.get((item.pk, calibration.subject_id)), by_item.get((item.pk, calibration.partner_id))
        if first and second:
            pairs.append((first, second))
        rows.append(
            ComparedItem(
                item=item,
                triple=item.revision.triple,
                first=_worded(first, str(calibration.subject)) if first else None,
                second=_worded(second, str(calibration.partner)) if second else None,
                then=then[item.revision_id],
                is_alike=first.choice == second.choice if first and second else None,
            )
        )
    return SittingComparison(rows, figures_of(pairs))


def figures_of(pairs: list[tuple[CalibrationVerdict, CalibrationVerdict]]) -> list[QuestionFigure]:
    """Confirm or flag, then each of the three questions: agreement, and Cohen's kappa."""
    answers: dict[str, list[tuple[bool, bool]]] = {
        CHOICE: [(first.choice == VerdictChoice.FLAG, second.choice == VerdictChoice.FLAG) for first, second in pairs]
    }
    for aspect in ASPECTS:
        answers[aspect] = [
            (aspects_flagged(first.reasons)[aspect], aspects_flagged(second.reasons)[aspect]) for first, second in pairs
        ]
    return [_figure(aspect, answered) for aspect, answered in answers.items()]


def _figure(aspect: str, pairs: list[tuple[bool, bool]]) -> QuestionFigure:
    table = np.zeros((2, 2), dtype=np.int64)
    for first, second in pairs:
        table[int(first), int(second)] += 1
    alike = Rate(int(np.trace(table)), len(pairs))
    if len(pairs) > 1 and alike.hits < len(pairs) and (not table.sum(axis=0).all() or not table.sum(axis=1).all()):
        reason = "One of the two always gave the same answer; κ is then 0 whatever the other answers."
        return QuestionFigure(aspect, alike, undefined("Cohen's κ", reason, len(pairs)))
    return QuestionFigure(aspect, alike, cohen_kappa(table))
