"""Judged ids that nearly fit those of a run: one rule, described in words, and applied when somebody wants it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from apps.common.files.near_ids import Proposal, propose_fit
from apps.metrics.files.packed.ids import Ids
from apps.metrics.vocabulary import Vocabulary

ADVICE = "--fit-ids reads them so."


def fit_of(judged: Iterable[str], named: Collection[str]) -> Proposal | None:
    """The rule by which judged ids that a run lacks are ids of the run, each with the run's; None without one.

    It is looked for from the judged side: a run has many blocks that nobody judged, and few judged ones are missing.
    """
    run = set(named)
    wanted = list(judged)
    lacking = [one for one in wanted if one not in run]
    return propose_fit(lacking, run.difference(wanted)) if lacking else None


def fit_words(proposal: Proposal, noun: str) -> str:
    """`4 of 4 judged queries nearly match: the ids differ by leading zeros, as Q01 is Q1 in the run.`"""
    ours, theirs = proposal.example
    count = f"{len(proposal.fits):,} of {proposal.unknown:,} judged {noun}"
    return f"{count} nearly match: the ids differ by {proposal.difference}, as {ours} is {theirs} in the run."


def fitted(column: Ids, judged: Iterable[str]) -> tuple[Ids, Proposal | None]:
    """The column with the judged id in place of each that fits, and the rule; the column itself without a rule."""
    vocabulary = Vocabulary()
    numbers = vocabulary.numbers_of(column)
    named = [one.decode() for one in vocabulary]
    proposal = fit_of(judged, named)
    if proposal is None:
        return column, None
    ours = {theirs: one for one, theirs in proposal.fits.items()}
    return Ids.of([ours.get(one, one) for one in named]).take(numbers), proposal
