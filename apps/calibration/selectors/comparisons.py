"""Who and what a calibration is made of, and the comparison of its two people with each other and the past."""

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q, QuerySet

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member, members_of
from apps.calibration import rules
from apps.calibration.core.control_chart import Signal
from apps.calibration.models import (
    Calibration,
    CalibrationItem,
    CalibrationMessage,
    CalibrationState,
    CalibrationVerdict,
)
from apps.calibration.selectors import calibrations, rates
from apps.common.text.wording import percent
from apps.metrics.agreement.pairs import cohen_kappa
from apps.metrics.agreement.ratings import Rate
from apps.metrics.agreement.results import Coefficient, undefined
from apps.review.enums import ASPECTS, Category, RateSide, Reason, VerdictChoice, aspects_flagged
from apps.review.models import Verdict
from apps.review.selectors.tracking import past_rounds
from apps.triples.models import Triple

OLDEST_TIMES = 4


def able_people(project: Project) -> QuerySet[User]:
    """Who may take part in a calibration now."""
    return members_of(project, *rules.PARTICIPANTS)


class ChosenSet(NamedTuple):
    """Ids of revisions in their order, or the reason why there is no set."""

    revisions: list[int]
    refusal: str | None


def choose_set(project: Project, subject: User, partner: User, *, wanted: int, seed: str) -> ChosenSet:
    """Past rounds that neither wrote, half of them flagged where there are enough, at most one per triple.

    Sampled from the oldest, four times as many as are wanted, by a hash under the seed that also gives the order: the
    same seed makes the same set.
    """
    people = (subject.pk, partner.pk)
    had = CalibrationItem.objects.filter(
        Q(calibration__subject__in=people) | Q(calibration__partner__in=people), calibration__project=project
    ).values("revision__triple")

    def sampled(*, flagged: bool) -> list[tuple[int, int]]:
        rounds = past_rounds(project, people, flagged=flagged, apart_from=had, most=OLDEST_TIMES * wanted)
        return sorted(rounds, key=lambda row: seeded_rank(seed, row[0]))

    flagged = _once_a_triple(sampled(flagged=True), set())
    picked = flagged[: wanted // 2]
    consensus = _once_a_triple(sampled(flagged=False), {triple for _, triple in picked})
    if reason := rules.set_refusal(len(consensus), len(flagged), wanted):
        return ChosenSet([], reason)
    picked += consensus[: wanted - len(picked)]
    triples = {triple for _, triple in picked}
    picked += [row for row in flagged if row[1] not in triples][: wanted - len(picked)]
    if len(picked) < wanted:
        return ChosenSet([], rules.set_refusal(0, len(picked), wanted))
    return ChosenSet(sorted((revision for revision, _ in picked), key=lambda pk: seeded_rank(seed, pk)), None)


def _once_a_triple(rows: list[tuple[int, int]], used: set[int]) -> list[tuple[int, int]]:
    seen = set(used)
    firsts = []
    for revision, triple in rows:
        if triple not in seen:
            seen.add(triple)
            firsts.append((revision, triple))
    return firsts


def seeded_rank(seed: str, pk: int) -> str:
    return hashlib.sha256(f"{seed}:{pk}".encode()).hexdigest()


def partners_for(project: Project, subject: User) -> list[User]:
    """Possible partners of `subject`: those in no open calibration first, then the most experienced."""
    reviewed = {row.person: row for row in rates.side_rates(project, RateSide.REVIEWER).people}
    busy: Counter[int] = Counter()
    open_ones = Calibration.objects.filter(project=project).exclude(state=CalibrationState.CLOSED)
    for pair in open_ones.values_list("subject", "partner"):
        busy.update(pair)

    def rank(person: User) -> tuple[int, bool, int, int]:
        row = reviewed.get(person.pk)
        return busy[person.pk], row is None or row.is_calibrating, -(row.n if row else 0), person.pk

    people = [person for person in members_of(project, "reviewer") if person.pk != subject.pk]
    return sorted(people, key=rank)


class Fired(NamedTuple):
    """A person for whom the rule fires and who has no such calibration yet."""

    person: int
    side: RateSide
    signal: Signal


def fired_in(project: Project) -> list[Fired]:
    """Everybody whose chart signals and who has no open calibration of that side, nor one for that period."""
    rows = Calibration.objects.filter(project=project).values_list("subject", "side", "state", "period")
    pending = list(rows)
    unfinished = {(person, side) for person, side, state, _ in pending if state != CalibrationState.CLOSED}
    had = {(person, side, period) for person, side, _, period in pending}
    return [
        Fired(row.person, side, row.signal)
        for side in RateSide
        for row in rates.side_rates(project, side).people
        if row.signal is not None
        and (row.person, side) not in unfinished
        and (row.person, side, row.signal.group.first) not in had
    ]


def why_of(signal: Signal) -> dict[str, Any]:
    """The figures that fired the rule, stored with the calibration."""
    group = signal.group
    return {
        "rule": signal.rule,
        "period": group.label,
        "flags": group.hits,
        "reviews": group.n,
        "mean": group.mean,
        "limit": group.high,
        "run": signal.run,
    }


def why_in_words(why: dict[str, Any]) -> str:
    if "rule" not in why:
        return why.get("by_hand") or "A lead opened it."
    counts = f"{why['period']}: {why['flags']} of {why['reviews']} flagged"
    mean = percent(why["mean"], 0)
    if why["rule"] == "run":
        return f"{why['run']} groups in a row above the mean of {mean}; the last, {counts}."
    return f"{counts}, above the upper limit of {percent(why['limit'], 0)} around the mean of {mean}."


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
        for verdict in calibrations.live_verdicts().filter(item__calibration=calibration)
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


class Seen(NamedTuple):
    """What a member may see of a calibration now.

    Until both have answered, the two see their own answers, and a lead without a part how many each has given. Then
    all is compared, but not for a lead who reviews one of its Q&As once more in another that is open.
    """

    is_mine: bool
    own: dict[int, CalibrationVerdict]
    progress: list[tuple[User, int]] | None
    compared: SittingComparison | None
    messages: list[CalibrationMessage] | None


def seen_by(member: Member, calibration: Calibration) -> Seen:
    is_mine, progress = calibration.includes(member.user), None
    if calibration.is_open and not is_mine:
        counts = calibrations.answered_by(calibration)
        progress = [(person, counts.get(person.pk, 0)) for person in (calibration.subject, calibration.partner)]
    is_compared = calibrations.is_compared_by(member.user, calibration)
    return Seen(
        is_mine,
        calibrations.own_verdicts(calibration, member.user) if is_mine else {},
        progress,
        comparison(calibration) if is_compared else None,
        list(calibrations.messages_of(calibration)) if is_compared else None,
    )


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
