"""Request analyses of runs: bias, stability, the effect of hard negatives; and choose what to judge first."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.common.digests import digest_of
from apps.evaluation.actions.scoring import EvaluationRefused, RequestKind, names_of, request_once
from apps.evaluation.selectors.evaluations import scorable_runs
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.measures.registry import DEFAULT_MEASURES
from apps.reports import rules
from apps.reports.core.negatives import MEASURES
from apps.reports.models import BiasReport, NegativesReport, Report, StabilityReport
from apps.reports.rules import MOST_RUNS
from apps.reports.selectors import version_facts
from apps.reports.selectors.analyses import AnyReport
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.models import Pool
from apps.retrieval.selectors.runs import run_in


class Analysis(NamedTuple):
    """What differs between the kinds of analysis.

    `refusal` takes version, split, runs, measures and the parameters of the analysis. `identity` takes measures and
    parameters and returns what, with split and runs, identifies a report.
    """

    request_kind: RequestKind
    title: str
    refusal: Callable[..., str | None]
    identity: Callable[..., list[Any]]


def _bias_identity(measures: Sequence[str], depth: int) -> list[Any]:
    """The first measure is part of it, since it decides what to judge first."""
    return [measures[0], sorted(measures), depth]


ANALYSES: dict[type[Report], Analysis] = {
    BiasReport: Analysis(
        RequestKind("bias_report.requested", "reports.bias", "report_id"),
        "Leave one system out on {}",
        rules.bias_refusal,
        _bias_identity,
    ),
    StabilityReport: Analysis(
        RequestKind("stability_report.requested", "reports.stability", "report_id"),
        "Compare orders under each annotator on {}",
        rules.stability_refusal,
        lambda measures: [sorted(measures)],
    ),
    NegativesReport: Analysis(
        RequestKind("negatives_report.requested", "reports.negatives", "report_id"),
        "Measure the hard negatives of {}",
        rules.effect_refusal,
        lambda measures, baseline_id, depth: [sorted(measures), baseline_id, depth],
    ),
}


@transaction.atomic
def request_report(
    *,
    kind: type[AnyReport],
    project: Project,
    run_ids: Sequence[int],
    version_id: int,
    split: str = "",
    measures: str = DEFAULT_MEASURES,
    actor: User,
    at: datetime,
    **parameters: int,
) -> AnyReport:
    """Request an analysis of these runs on one split of a version; a job computes it.

    Bias has a parameter, `depth`; hard negatives have two, `baseline_id` and `depth`.

    The same request, with the runs in any order, returns the existing report. It is queued again when its job failed or
    was cancelled.
    """
    analysis = ANALYSES[kind]
    version = frozen_in(project, version_id)
    runs = [run_in(project, pk) for pk in sorted(set(run_ids))]
    names, keys = names_of(measures), [run.pk for run in runs]
    if reason := analysis.refusal(version, split, runs, names, **parameters):
        raise EvaluationRefused(reason, code="report_refused")
    choice = {"split": split, "measures": names, **parameters}
    return request_once(
        kind,
        analysis.request_kind,
        identity={"version": version, "digest": digest_of([split, keys, *analysis.identity(names, **parameters)])},
        columns={"project": project, "runs": keys, **choice},
        audit_facts={"version": version.label, "runs": [run.tag for run in runs], **choice},
        title=analysis.title.format(version.label),
        actor=actor,
        at=at,
    )


@transaction.atomic
def choose_first(*, report: BiasReport, most: int, name: str = "", actor: User, at: datetime) -> Pool:
    """Make a pool of the unjudged passages that could change the order most, to plan a round from.

    Leaves out pairs that are already in a round. Raises EvaluationRefused when no pair is left.
    """
    if reason := rules.first_refusal(report, most):
        raise EvaluationRefused(reason, code="first_refused")
    pairs = version_facts.pairs_first(report)
    planned = version_facts.already_planned(report.version, pairs)
    chosen = [pair for pair in pairs if pair not in planned][:most]
    if not chosen:
        reason = "All these passages are already planned in rounds. Judge them and freeze a version first."
        raise EvaluationRefused(reason, code="first_refused")
    weighing = report.result["first"]["weighing"]
    origin = f"unjudged passages that could change the order of {len(report.runs)} runs by {weighing}"
    return choose_pairs(
        project=report.project,
        snapshot=report.version.snapshot,
        name=name.strip() or f"Judge first, report {report.pk}, {at:%Y-%m-%d %H:%M:%S}",
        pairs=chosen,
        origin=origin,
        plan={"how": "first", "report": report.pk, "weighing": weighing, "asked": most},
        actor=actor,
        at=at,
    )


@transaction.atomic
def measure_negatives(
    *, version: Version, baseline_id: int, depth: int, actor: User, at: datetime
) -> list[NegativesReport]:
    """A report for each split with grades, on the baseline and the newest runs that rank passages of the snapshot."""
    graded = VersionGrade.objects.filter(version=version).values_list("query__split", flat=True).distinct()
    return [
        request_report(
            kind=NegativesReport,
            project=version.gold_set.project,
            run_ids=_measured(version, baseline_id),
            version_id=version.pk,
            split=split,
            measures=MEASURES,
            actor=actor,
            at=at,
            baseline_id=baseline_id,
            depth=depth,
        )
        for split in Split.values
        if split in set(graded)
    ]


def _measured(version: Version, baseline_id: int) -> Sequence[int]:
    ranked = scorable_runs(version)
    newest = sorted((run.pk for run in ranked if run.pk != baseline_id), reverse=True)
    return [*(run.pk for run in ranked if run.pk == baseline_id), *newest[: MOST_RUNS - 1]]
