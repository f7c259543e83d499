"""What clients saw of a round against what the database holds: pure, and told in sentences.

Clients write down every grade they sent and what they were told of it, and every pair they were handed. Nothing here
knows how the server works: the faults are read off the promises alone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Told(NamedTuple):
    """One answer to a grade: the judgement it made, or the refusal's code."""

    judgement: int | None
    seat: int | None
    refusal: str = ""


@dataclass
class Sent:
    """One grade under one key by one client: how often it went out, and every answer that came back."""

    client: int
    key: str
    seat: int
    grade: int
    tries: int = 0
    answers: list[Told] = field(default_factory=list)

    @property
    def is_acknowledged(self) -> bool:
        return any(answer.judgement for answer in self.answers)


class Handed(NamedTuple):
    """A client was given a seat to grade, after it knew of `acknowledged` grades of its own."""

    client: int
    seat: int
    acknowledged: frozenset[int] = frozenset()


class Place(NamedTuple):
    """A seat in the database."""

    seat: int
    entry: int
    pass_number: int
    state: str
    annotator: int | None


class Kept(NamedTuple):
    """A judgement in the database."""

    judgement: int
    key: str
    annotator: int
    seat: int
    grade: int | None
    supersedes: int | None = None


def faults(
    sent: Iterable[Sent],
    handed: Iterable[Handed],
    before: Iterable[Place],
    after: Iterable[Place],
    kept: Iterable[Kept],
) -> list[str]:
    """Every promise that was broken, one sentence each; empty when all were kept."""
    sent, after, kept = list(sent), list(after), list(kept)
    return [
        *_acknowledgements(sent, kept),
        *_strangers(sent, kept),
        *_handing_out(handed),
        *_seats(before, after),
        *_quotas(after, kept),
    ]


def _acknowledgements(sent: list[Sent], kept: list[Kept]) -> Iterable[str]:
    """Each acknowledged grade is there once, as it was sent and as every answer said; a refused one is not there."""
    by_key: dict[tuple[int, str], list[Kept]] = defaultdict(list)
    for row in kept:
        by_key[row.annotator, row.key].append(row)
    for grade in sent:
        rows = by_key[grade.client, grade.key]
        told = {answer.judgement for answer in grade.answers if answer.judgement}
        if len(told) > 1:
            yield f"{grade.key} was answered with different judgements: {sorted(told)}"
        if len(rows) > 1:
            yield f"{grade.key} is there {len(rows)} times"
        if grade.is_acknowledged and not rows:
            yield f"{grade.key} was acknowledged and is lost"
        if grade.is_acknowledged and rows and rows[0].judgement not in told:
            yield f"{grade.key} is judgement {rows[0].judgement}, not {min(told)} as acknowledged"
        if rows and rows[0].grade != grade.grade:
            yield f"{grade.key} was sent as {grade.grade} and is there as {rows[0].grade}"
        refusals = {answer.refusal for answer in grade.answers if answer.refusal}
        if refusals and (rows or told):
            yield f"{grade.key} was refused ({', '.join(sorted(refusals))}) and is there all the same"


def _strangers(sent: list[Sent], kept: list[Kept]) -> Iterable[str]:
    known = {(grade.client, grade.key) for grade in sent}
    for row in kept:
        if (row.annotator, row.key) not in known:
            yield f"judgement {row.judgement} was sent by nobody"


def _handing_out(handed: Iterable[Handed]) -> Iterable[str]:
    """No lease lapses during a history: a seat is one client's, and one that was graded does not come back."""
    holder: dict[int, int] = {}
    for row in handed:
        first = holder.setdefault(row.seat, row.client)
        if first != row.client:
            yield f"seat {row.seat} was handed to {first} and to {row.client}"
        if row.seat in row.acknowledged:
            yield f"seat {row.seat} came back to {row.client} after its grade was acknowledged"


def _seats(before: Iterable[Place], after: list[Place]) -> Iterable[str]:
    """The seats are those that were planned, each in one of its three states."""
    planned = {row.seat: (row.entry, row.pass_number) for row in before}
    found = {row.seat: (row.entry, row.pass_number) for row in after}
    for seat in sorted(planned.keys() - found.keys()):
        yield f"seat {seat} is lost"
    for seat in sorted(found.keys() - planned.keys()):
        yield f"seat {seat} was never planned"
    for seat in sorted(planned.keys() & found.keys()):
        if planned[seat] != found[seat]:
            yield f"seat {seat} moved to another pair"
    states = Counter(row.state for row in after)
    if sum(states[name] for name in ("done", "open", "leased")) != len(planned):
        yield f"{len(planned)} seats were planned, and there are {dict(states)}"


def _quotas(after: list[Place], kept: list[Kept]) -> Iterable[str]:
    """Each pair has as many live judgements as filled seats, one a seat and one a person, never more than seats."""
    superseded = {row.supersedes for row in kept}
    live = [row for row in kept if row.judgement not in superseded]
    at = {row.seat: row for row in after}
    seats = Counter((row.entry, row.pass_number) for row in after)
    done = Counter((row.entry, row.pass_number) for row in after if row.state == "done")
    given = Counter((at[row.seat].entry, at[row.seat].pass_number) for row in live if row.seat in at)
    for pair in sorted(seats | given):
        if given[pair] > seats[pair]:
            yield f"pair {pair} has {given[pair]} grades and {seats[pair]} seats"
        elif given[pair] != done[pair]:
            yield f"pair {pair} has {given[pair]} grades and {done[pair]} filled seats"
    for seat, n in Counter(row.seat for row in live).items():
        if n > 1:
            yield f"seat {seat} has {n} live grades"
    people = Counter((at[row.seat].entry, at[row.seat].pass_number, row.annotator) for row in live if row.seat in at)
    for (entry, number, person), n in people.items():
        if n > 1:
            yield f"{person} judged pair {(entry, number)} {n} times"
    for row in live:
        if row.seat in at and at[row.seat].annotator != row.annotator:
            yield f"seat {row.seat} is {at[row.seat].annotator}'s and holds a grade of {row.annotator}"
