"""Reads of calibrations: who reviews what once more, what is veiled to them meanwhile, and how they compare."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member, members_of
from apps.agreement import rates, rules
from apps.agreement.coefficients import Coefficient, cohen_kappa, undefined
from apps.agreement.control import Signal
from apps.agreement.enums import CalibrationState
from apps.agreement.models import Calibration, CalibrationItem, CalibrationMessage, CalibrationVerdict
from apps.agreement.ratings import Rate
from apps.common.wording import percent
from apps.review.enums import Category, Choice, Reason
from apps.review.models import Verdict
from apps.review.policies import ASPECTS, aspects_flagged
from apps.review.tracking import Side, past_rounds
from apps.triples.models import Triple

OLDEST_TIMES = 4

# Veils -------------------------------------------------------------------------------------------------------------


def veiled_triples(person: User) -> QuerySet[Any]:
    """Ids of the triples that the person reviews once more right now: no verdict on them may reach them."""
    return CalibrationItem.objects.filter(
        Q(calibration__subject=person) | Q(calibration__partner=person), calibration__state=CalibrationState.OPEN
    ).values("revision__triple")


def veiled_among(triples: Sequence[Triple], person: User) -> set[int]:
    """The keys of those of the triples that are veiled to the person."""
    found = veiled_triples(person).filter(revision__triple__in=triples)
    return set(found.values_list("revision__triple", flat=True))


# Finding one -------------------------------------------------------------------------------------------------------


def calibrations_for(member: Member) -> QuerySet[Calibration]:
    """Those that this member may see, newest first: leads all, others those they take part in."""
    found = Calibration.objects.filter(project=member.project).select_related("project", "subject", "partner")
    if not member.is_lead:
        found = found.filter(Q(subject=member.user) | Q(partner=member.user))
    return found.order_by("-number")


def calibration_for(member: Member, number: int) -> Calibration:
    found = calibrations_for(member).filter(number=number).select_related("opened_by", "closed_by").first()
    if found is None:
        raise Http404("No such calibration.")
    return found


def locked_calibration(project: Project, pk: int) -> Calibration:
    found = (
        Calibration.objects.select_for_update(of=("self",))
        .select_related("project")
        .filter(project=project, pk=pk)
        .first()
    )
    if found is None:
        raise Http404("No such calibration.")
    return found


def waiting_in(person: User, project: Project) -> QuerySet[CalibrationItem]:
    """Items that wait for this person's answer, in the order of their set."""
    mine = live_verdicts().filter(item=OuterRef("pk"), person=person)
    return (
        CalibrationItem.objects.filter(
            Q(calibration__subject=person) | Q(calibration__partner=person),
            calibration__project=project,
            calibration__state=CalibrationState.OPEN,
        )
        .exclude(Exists(mine))
        .order_by("calibration__number", "number")
    )


def live_verdicts() -> QuerySet[CalibrationVerdict]:
    return CalibrationVerdict.objects.filter(superseded_by=None)


def own_verdicts(calibration: Calibration, person: User) -> dict[int, CalibrationVerdict]:
    """The person's verdicts that stand, by item."""
    return {
        verdict.item_id: verdict for verdict in live_verdicts().filter(item__calibration=calibration, person=person)
    }


def answered_by(calibration: Calibration) -> dict[int, int]:
    """How many items each has answered; for leads without a part in it, and for the action that ends the answering."""
    rows = live_verdicts().filter(item__calibration=calibration).values_list("person").annotate(Count("pk"))
    return dict(rows.order_by())


def is_all_answered(calibration: Calibration) -> bool:
    found = answered_by(calibration)
    return all(found.get(person, 0) == calibration.item_count for person in calibration.people)


def messages_of(calibration: Calibration) -> QuerySet[CalibrationMessage]:
    return calibration.messages.select_related("author").order_by("posted_at", "pk")


# Making one --------------------------------------------------------------------------------------------------------


def able_people(project: Project) -> QuerySet[User]:
    """Who may take part in a calibration now."""
    return members_of(project, *rules.PARTICIPANTS)


class Chosen(NamedTuple):
    """Ids of revisions in their order, or the sentence that says why there is no set."""

    revisions: list[int]
    refusal: str | None


def choose_set(project: Project, subject: User, partner: User, *, wanted: int, seed: str) -> Chosen:
    """Past rounds that neither wrote, half of them flagged where there are enough, one of a triple.

    The oldest come into question, four times as many as are wanted; the hash of the seed draws among them and
    gives the order, so the same seed makes the same set.
    """
    people = (subject.pk, partner.pk)
    had = CalibrationItem.objects.filter(
        Q(calibration__subject__in=people) | Q(calibration__partner__in=people), calibration__project=project
    ).values("revision__triple")

    def drawn(*, flagged: bool) -> list[tuple[int, int]]:
        found = past_rounds(project, people, flagged=flagged, apart_from=had, most=OLDEST_TIMES * wanted)
        return sorted(found, key=lambda row: lot(seed, row[0]))

    flagged = _once_a_triple(drawn(flagged=True), set())
    picked = flagged[: wanted // 2]
    consensus = _once_a_triple(drawn(flagged=False), {triple for _, triple in picked})
    if reason := rules.set_refusal(len(consensus), len(flagged), wanted):
        return Chosen([], reason)
    picked += consensus[: wanted - len(picked)]
    triples = {triple for _, triple in picked}
    picked += [row for row in flagged if row[1] not in triples][: wanted - len(picked)]
    if len(picked) < wanted:
        return Chosen([], rules.set_refusal(0, len(picked), wanted))
    return Chosen(sorted((revision for revision, _ in picked), key=lambda pk: lot(seed, pk)), None)


def _once_a_triple(rows: list[tuple[int, int]], taken: set[int]) -> list[tuple[int, int]]:
    seen = set(taken)
    kept = []
    for revision, triple in rows:
        if triple not in seen:
            seen.add(triple)
            kept.append((revision, triple))
    return kept


def lot(seed: str, pk: int) -> str:
    return hashlib.sha256(f"{seed}:{pk}".encode()).hexdigest()


def partners_for(project: Project, subject: User) -> list[User]:
    """Reviewers to review beside `subject`: those in no open calibration first, then the most experienced."""
    reviewed = {row.person: row for row in rates.side_rates(project, Side.REVIEWER).people}
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
    """A person for whom the rule asks for a calibration that there is not yet."""

    person: int
    side: Side
    signal: Signal


def fired_in(project: Project) -> list[Fired]:
    """Everybody whose chart signals and who is in no calibration of that side now, nor was for that period."""
    rows = Calibration.objects.filter(project=project).values_list("subject", "side", "state", "period")
    there = list(rows)
    unfinished = {(person, side) for person, side, state, _ in there if state != CalibrationState.CLOSED}
    had = {(person, side, period) for person, side, _, period in there}
    return [
        Fired(row.person, side, row.signal)
        for side in Side
        for row in rates.side_rates(project, side).people
        if row.signal is not None
        and (row.person, side) not in unfinished
        and (row.person, side, row.signal.group.first) not in had
    ]


def why_of(signal: Signal) -> dict[str, Any]:
    """The figures that fired, as they stood: kept with the calibration."""
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
        return why.get("by_hand") or "A lead opened it by hand."
    counts = f"{why['period']}: {why['flags']} of {why['reviews']} flagged"
    mean = percent(why["mean"], 0)
    if why["rule"] == "run":
        return f"{why['run']} groups in a row above the mean of {mean}; the last, {counts}."
    return f"{counts}, above the upper limit of {percent(why['limit'], 0)} around the mean of {mean}."


# Comparing ---------------------------------------------------------------------------------------------------------


class Said(NamedTuple):
    """A verdict in words."""

    who: str
    is_flag: bool
    words: str
    note: str


@dataclass(frozen=True)
class Compared:
    """One item beside what the round decided back then; `first` is the subject's answer, `second` the partner's."""

    item: CalibrationItem
    triple: Triple
    first: Said | None
    second: Said | None
    then: list[Said]
    is_alike: bool | None

    @property
    def then_words(self) -> str:
        flags = sum(said.is_flag for said in self.then)
        return ("Both confirmed", "One confirmed, one flagged", "Both flagged")[min(flags, 2)]


@dataclass(frozen=True)
class QuestionFigure:
    word: str
    alike: Rate
    kappa: Coefficient


@dataclass(frozen=True)
class Comparison:
    rows: list[Compared]
    figures: list[QuestionFigure]


def in_words(choice: str, reasons: list[str], category: str) -> str:
    if choice != Choice.FLAG:
        return "confirmed"
    named = [str(Reason(reason).label).removeprefix("Answer ") for reason in reasons]
    return ", ".join([*named, *([str(Category(category).label)] if category else [])]).lower()


def _said(verdict: CalibrationVerdict | Verdict, who: str) -> Said:
    return Said(
        who,
        verdict.choice == Choice.FLAG,
        in_words(verdict.choice, verdict.reasons, verdict.category),
        verdict.note,
    )


def comparison(calibration: Calibration) -> Comparison:
    """Both answers to each item, what was said back then, and how far the two agree. Only once nobody is blind."""
    items = list(calibration.items.select_related("revision__triple").order_by("number"))
    given = {
        (verdict.item_id, verdict.person_id): verdict
        for verdict in live_verdicts().filter(item__calibration=calibration)
    }
    then: defaultdict[int, list[Said]] = defaultdict(list)
    past = Verdict.objects.filter(revision__in=[item.revision_id for item in items], superseded_by=None)
    for verdict in past.select_related("reviewer").order_by("seat__number"):
        then[verdict.revision_id].append(_said(verdict, str(verdict.reviewer)))
    rows, pairs = [], []
    for item in items:
        one, two = given.get((item.pk, calibration.subject_id)), given.get((item.pk, calibration.partner_id))
        if one and two:
            pairs.append((one, two))
        rows.append(
            Compared(
                item=item,
                triple=item.revision.triple,
                first=_said(one, str(calibration.subject)) if one else None,
                second=_said(two, str(calibration.partner)) if two else None,
                then=then[item.revision_id],
                is_alike=one.choice == two.choice if one and two else None,
            )
        )
    return Comparison(rows, figures_of(pairs))


def figures_of(pairs: list[tuple[CalibrationVerdict, CalibrationVerdict]]) -> list[QuestionFigure]:
    """Confirm or flag, then each of the three questions: how often alike, and Cohen's kappa."""
    answers: dict[str, list[tuple[bool, bool]]] = {
        "Confirm or flag": [(one.choice == Choice.FLAG, two.choice == Choice.FLAG) for one, two in pairs]
    }
    for aspect in ASPECTS:
        answers[aspect.capitalize()] = [
            (aspects_flagged(one.reasons)[aspect], aspects_flagged(two.reasons)[aspect]) for one, two in pairs
        ]
    return [_figure(word, found) for word, found in answers.items()]


def _figure(word: str, found: list[tuple[bool, bool]]) -> QuestionFigure:
    table = np.zeros((2, 2), dtype=np.int64)
    for one, two in found:
        table[int(one), int(two)] += 1
    alike = Rate(int(np.trace(table)), len(found))
    if len(found) > 1 and alike.hits < len(found) and (not table.sum(axis=0).all() or not table.sum(axis=1).all()):
        reason = "One of the two gave one answer only; κ is 0 then whatever the other says."
        return QuestionFigure(word, alike, undefined("Cohen's κ", reason, len(found)))
    return QuestionFigure(word, alike, cohen_kappa(table))
