"""Reasons why a report cannot be made or shown, or None."""

from collections.abc import Sequence

from apps.accounts.selectors import Member
from apps.agreement.selectors.agreement import rounds_refusal
from apps.common.errors import Refusal
from apps.evaluation.rules import request_refusal, results_refusal, unpublished_refusal
from apps.goldsets.models import Version
from apps.metrics.measures.entries import FACETS, GRADES
from apps.metrics.measures.registry import parse_measure
from apps.reports.core.negatives import NegativesChoice
from apps.reports.models import BiasReport, Report
from apps.retrieval.models import Run

DEEPEST_REPORT = 1_000
MOST_FIRST = 1_000
MOST_NEGATIVES = 100
MOST_RUNS = 30
STILL_COMPUTED = "This report is still being computed."


def bias_refusal(version: Version, split: str, runs: Sequence[Run], measures: Sequence[str], depth: int) -> str | None:
    """Why these runs cannot have a bias report on this split of the version."""
    if len(runs) < 2:
        return "A bias report compares runs. Choose at least two."
    if not 0 <= depth <= DEEPEST_REPORT:
        return f"The depth must be a whole number from 0 to {DEEPEST_REPORT:,}."
    return _runs_refusal(version, split, runs)


def stability_refusal(version: Version, split: str, runs: Sequence[Run], measures: Sequence[str]) -> str | None:
    """Why these runs cannot have a stability report on this split of the version."""
    if len(runs) < 2:
        return "A stability report compares the order of runs. Choose at least two."
    if len(runs) > MOST_RUNS:
        return f"A stability report compares at most {MOST_RUNS} runs. Choose fewer."
    if about_judging := [name for name in measures if parse_measure(name).entry.is_about_judging]:
        return f"{about_judging[0]} measures how much was judged, not the grades. Choose other measures."
    if of_facets := [name for name in measures if FACETS in parse_measure(name).entry.needs]:
        return (
            f"{of_facets[0]} counts subtopics, which are the same under every person’s grades. Choose other measures."
        )
    if apart := [name for name in measures if GRADES not in parse_measure(name).entry.needs]:
        return f"{apart[0]} reads no grades, so it is the same under every person’s. Choose other measures."
    return _runs_refusal(version, split, runs)


def _runs_refusal(version: Version, split: str, runs: Sequence[Run]) -> str | None:
    """Why one of these runs cannot be measured on this split of the version."""
    why = (request_refusal(run, version, split) or unpublished_refusal(run, version, split) for run in runs)
    return next(filter(None, why), None)


def people_refusal(member: Member, report: Report) -> str | None:
    """Why the person may not yet see a report that shows single people's grades: a round of the version is open."""
    return rounds_refusal(member, report.version.rounds.all()) if report.shows_people else None


def first_refusal(report: BiasReport, most: int) -> str | None:
    """Why no pool of what to judge first can be made from the report."""
    if not report.is_computed:
        return STILL_COMPUTED
    if not report.result["first"]["pairs"]:
        return "No unjudged passage can change the order of these runs."
    if not 1 <= most <= MOST_FIRST:
        return f"Choose 1 to {MOST_FIRST:,} passages."
    return None


def negatives_refusal(run: Run, version: Version, split: str, choice: NegativesChoice) -> str | None:
    """Why such negatives cannot be proposed."""
    if not 0 <= choice.hard <= MOST_NEGATIVES or not 0 <= choice.easy <= MOST_NEGATIVES:
        return f"Choose 0 to {MOST_NEGATIVES} negatives of each kind per query."
    if not 1 <= choice.depth <= DEEPEST_REPORT:
        return f"The depth must be a whole number from 1 to {DEEPEST_REPORT:,}."
    return results_refusal(run, version, split)


def effect_refusal(
    version: Version, split: str, runs: Sequence[Run], measures: Sequence[str], baseline_id: int, depth: int
) -> str | None:
    """Why it cannot be measured what the hard negatives of this baseline do to the scores of these runs."""
    if baseline_id not in {run.pk for run in runs}:
        return "The baseline must be one of the runs on the snapshot of the version."
    if len(runs) > MOST_RUNS:
        return f"Hard negatives are measured on at most {MOST_RUNS} runs. Choose fewer."
    if not 1 <= depth <= DEEPEST_REPORT:
        return f"The depth must be a whole number from 1 to {DEEPEST_REPORT:,}."
    return _runs_refusal(version, split, runs)


class ReportHidden(Refusal):
    """The report shows single people's grades, and a round is still open."""
