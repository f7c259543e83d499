"""What to know before reading the figures of a scorecard, as sentences: the table and the report say the same."""

from __future__ import annotations

from collections.abc import Iterator

from apps.metrics.scorecard import BCA, NONE, Scorecard
from apps.metrics.scoring import conventions
from apps.metrics.statistics.significance import RESAMPLES

EVERY_RESAMPLE = "every resample there could be"
INTERVAL_WORDS = {"percentile": "percentile bootstrap", BCA: "bias-corrected and accelerated (BCa) bootstrap"}


def notes_of(card: Scorecard) -> Iterator[str]:
    """Denominators, conventions, and how intervals and p were made."""
    yield f"{len(card.queries)} queries judged, {card.with_relevant} with a relevant block."
    for run in card.runs:
        if run.scores.missing:
            yield f"{run.tag} lacks {run.scores.missing} of them."
    yield conventions(list(card.measures.values()))
    yield from _of_unjudged(card)
    if card.interval != NONE:
        over = f"queries within each stratum of {card.stratified}" if card.stratified else "queries"
        how = INTERVAL_WORDS[card.interval]
        yield f"Intervals: {how} over {over}, {EVERY_RESAMPLE}, widened for few queries."
    if any(run.people for run in card.runs):
        yield (
            "The interval with people allows for others having judged, as far as those who did differ; "
            f"{RESAMPLES:,} resamples, seed {card.seed}."
        )
    if card.comparisons:
        yield from _of_comparisons(card)


def _of_unjudged(card: Scorecard) -> Iterator[str]:
    """Which runs have more in their first ten than was judged, where any measure counts that against them."""
    shares = {run.tag: run.judged_at_10.mean for run in card.runs}
    low = [tag for tag, share in shares.items() if share is not None and share < 1]
    counting = ("judged_only" in one.entry.takes and not one.judged_only for one in card.measures.values())
    if low and any(counting):
        whose = "its" if len(low) == 1 else "their"
        found = f"judged@10 of {', '.join(low)} is below 100 %"
        yield f"{found}: unjudged counts as not relevant, so {whose} true figures may be better."


def _of_comparisons(card: Scorecard) -> Iterator[str]:
    family = "1 difference" if card.family == 1 else f"{card.family} differences"
    yield (
        "Differences: candidate minus baseline, paired over queries; p by a two-sided sign-flip randomisation test of "
        f"{RESAMPLES:,} resamples, seed {card.seed}, corrected by Holm over {family}."
    )
    yield (
        "Detectable is the smallest true difference that so many queries show with 80 % power at level 0.05; queries "
        "needed are those for the difference seen."
    )
    if any(against.left_out for against in card.comparisons):
        yield "A measure without a value for some query of either run has no paired difference."
