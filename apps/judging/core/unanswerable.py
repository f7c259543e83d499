"""Whether nothing in a snapshot answers a query: how far people looked, what two votes say, and when that falls."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from apps.common.text.wording import percent, plural
from apps.judging.enums import AbsenceState
from apps.metrics.statistics.proportions import most_missed

LEAD = 0
"""The number of a lead's vote; those of the two others are 1 and 2."""
VOTES = 2
DEEP = 10
"""From this depth on, of two systems or more, a pool is deep enough."""
CONFIDENCE = 0.95


class Sample(NamedTuple):
    """A random sample of the blocks outside a pool, or of a stratum of them: how many, and of how many."""

    sampled: int
    outside: int


class Basis(NamedTuple):
    """What was judged for a query, none of it relevant: `judged` of `blocks` blocks, from the first `depth` results of
    `systems` systems, and the samples from outside the pool, one for each stratum.
    """

    blocks: int
    judged: int = 0
    depth: int = 0
    systems: int = 0
    samples: tuple[Sample, ...] = ()

    @property
    def kind(self) -> str:
        """`exhaustive`, `sampled` or `deep`; "" where too little was judged to say anything."""
        if self.judged >= self.blocks:
            return "exhaustive"
        if self.samples:
            return "sampled"
        return "deep" if self.depth >= DEEP and self.systems >= VOTES else ""

    @property
    def sampled(self) -> int:
        """The blocks in the samples."""
        return sum(sample.sampled for sample in self.samples)

    @property
    def outside(self) -> int:
        """The blocks that were sampled from, with those in the sample."""
        return sum(sample.outside for sample in self.samples)

    @property
    def missed_at_most(self) -> int | None:
        """The upper bound, one-sided and 95 %, of how many relevant blocks were missed; None where nothing bounds it.

        Several strata share the chance of an error, so that it holds for their sum.
        """
        if self.kind == "exhaustive":
            return 0
        if self.kind != "sampled":
            return None
        each = 1 - (1 - CONFIDENCE) / len(self.samples)
        return sum(most_missed(one.sampled, one.outside, each) for one in self.samples)

    @property
    def words(self) -> str:
        """How deep people looked, and what may have been missed."""
        if self.kind == "exhaustive":
            return f"all {plural(self.blocks, 'passage')} judged, none missed"
        pooled = f"depth {self.depth} of {plural(self.systems, 'system')}" if self.systems else "no system’s results"
        if self.missed_at_most is None:
            return f"not bounded; {pooled}"
        share = percent(self.missed_at_most / self.outside, 1)
        return (
            f"at most {self.missed_at_most:,} of {self.outside:,} passages outside the pool ({share}), "
            f"by a random sample of {self.sampled:,}; {pooled}"
        )

    @property
    def as_json(self) -> dict[str, Any]:
        """As it is frozen with a version and sent by the API."""
        return {
            "basis": self.kind,
            "passages": self.blocks,
            "judged": self.judged,
            "depth": self.depth,
            "systems": self.systems,
            "sampled": self.sampled,
            "outside": self.outside,
            "missed_at_most": self.missed_at_most,
        }


class Vote(NamedTuple):
    """One vote of an attempt: its number, whether it says that nothing answers, and its time."""

    number: int
    is_nothing: bool
    given_at: datetime


class Evidence(NamedTuple):
    """What decides on votes. `is_settled`: every pair of the query is judged, and nobody is asked about one any more.

    `relevant_at` is when a block was last graded relevant, also where that was taken back since.
    """

    is_settled: bool
    is_relevant: bool
    relevant_at: datetime | None
    is_deep: bool = True


def outcome_of(votes: Sequence[Vote]) -> AbsenceState:
    """What the votes of one attempt add up to."""
    lead = next((vote for vote in votes if vote.number == LEAD), None)
    if lead is not None:
        return AbsenceState.CONFIRMED if lead.is_nothing else AbsenceState.ANSWERED
    if len(votes) < VOTES:
        return AbsenceState.OPEN
    said = {vote.is_nothing for vote in votes}
    if len(said) > 1:
        return AbsenceState.DIFFERENT
    return AbsenceState.CONFIRMED if said == {True} else AbsenceState.ANSWERED


def are_void(votes: Sequence[Vote], evidence: Evidence) -> bool:
    """Whether these votes count no more: a block was graded relevant since. The words of a used query never change.

    Votes that a passage answers have had their effect once that passage is judged too.
    """
    if evidence.relevant_at is not None and any(vote.given_at <= evidence.relevant_at for vote in votes):
        return True
    return evidence.is_settled and outcome_of(votes) is AbsenceState.ANSWERED


def state_of(votes: Sequence[Vote], evidence: Evidence) -> AbsenceState | None:
    """The state of a query with the votes of its last attempt; None where it is no candidate.

    While a pair is being judged it is only that: nobody is told what grades say before they are settled.
    """
    outcome = outcome_of(votes) if votes else AbsenceState.OPEN
    if not evidence.is_settled:
        return AbsenceState.BEING_JUDGED if votes else None
    has_fallen = outcome is AbsenceState.CONFIRMED and are_void(votes, evidence)
    if evidence.is_relevant:
        return AbsenceState.FALLEN if outcome is AbsenceState.CONFIRMED else None
    if has_fallen or not votes or are_void(votes, evidence):
        return AbsenceState.OPEN if evidence.is_deep else AbsenceState.NOT_DEEP
    return outcome
