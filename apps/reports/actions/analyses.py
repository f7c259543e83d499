"""Request an analysis of runs: bias, stability under each annotator's grades, or what hard negatives do to scores."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.common.digests import digest_of
from apps.evaluation.actions.scoring import EvaluationRefused, RequestKind, names_of, request_once
from apps.evaluation.rules import DEFAULT_MEASURES
from apps.goldsets.selectors.versions import frozen_in
from apps.reports import rules
from apps.reports.models import BiasReport, NegativesReport, Report, StabilityReport
from apps.reports.selectors.analyses import AnyReport
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
