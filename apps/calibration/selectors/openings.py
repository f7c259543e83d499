"""Reads for opening a calibration: the people, the reason, and the past triples."""

import hashlib
from collections import Counter
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.calibration import rules
from apps.calibration.core.control_chart import Signal
from apps.calibration.enums import CalibrationState
from apps.calibration.models import Calibration, CalibrationItem
from apps.calibration.selectors import rates
from apps.common.text.wording import percent
from apps.review.enums import RateSide
from apps.review.selectors.tracking import past_rounds

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
