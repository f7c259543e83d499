"""Searches that went wrong: reported, and taken as queries or rejected."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record, save_step
from apps.corpus.models import Block
from apps.queries import rules, selectors
from apps.queries.actions.queries import QueryRefused, create_query, let_in
from apps.queries.actions.sources import create_source
from apps.queries.core.masking import mask
from apps.queries.enums import ReportState, SourceKind
from apps.queries.models import FailureReport, Source
from apps.queries.selectors import open_remarks

REPORT_STEPS: dict[tuple[str, str], str] = {
    (ReportState.OPEN, "take"): ReportState.TAKEN,
    (ReportState.OPEN, "reject"): ReportState.REJECTED,
}
REPORTED = "failure-reports"
"""The slug of the source that queries from reports have."""


@transaction.atomic
def report_failure(
    *, project: Project, text: str, expected: str, passage: str, has_consent: bool, actor: User, at: datetime
) -> FailureReport:
    """Report a search that went wrong. What tells of a person is masked before anything is stored.

    `passage` is the outside id of a passage that answers, or "". Raises QueryRefused, also for what a check keeps out.
    """
    QueryRefused.raise_for(rules.report_refusal(text=text, has_consent=has_consent), code="not_reportable")
    text, expected = mask(" ".join(text.split())).text, mask(expected.strip()).text
    if passage and not Block.objects.filter(document__corpus__project=project, outside_id=passage).exists():
        raise QueryRefused(f"No passage of this project has the id {passage}.", code="passage_unknown")
    remarks = let_in(project, "", {"text": text}, {}, None)
    report = FailureReport.objects.create(
        project=project,
        text=text,
        expected=expected,
        passage=passage,
        remarks=open_remarks(None, {"text"}, remarks),
        has_consent=has_consent,
        reported_by=actor,
        reported_at=at,
    )
    record(project=project, actor=actor, action="failure.reported", obj=report, at=at)
    return report


@transaction.atomic
def take_report(*, report_id: int, actor: User, at: datetime) -> FailureReport:
    """Make a report a query of the source of failure reports, with what was expected as its intent.

    The passage that the reporter named stays in the metadata: it is a hint, no grade. Raises QueryRefused.
    """
    report = _locked_report(report_id)
    project = report.project
    names = selectors.names_in(project)
    if known := names.known_id(report.text):
        sentence = f"The query {known} has the same words. Reject the report, and say so as the reason."
        raise QueryRefused(sentence, code="same_words")
    source = Source.objects.filter(project=project, slug=REPORTED).first() or create_source(
        project=project, name="Failure reports", kind=SourceKind.FAILURE_CASE, slug=REPORTED, actor=actor, at=at
    )
    query = create_query(
        project=project,
        outside_id=names.id_for(report.text),
        text=report.text,
        intent=report.expected,
        source=source,
        metadata={"expected_passage": report.passage} if report.passage else {},
        is_text_on_record=False,
        actor=actor,
        at=at,
    )
    return _decided(report, "take", actor, at, query=query)


@transaction.atomic
def reject_report(*, report_id: int, reason: str, actor: User, at: datetime) -> FailureReport:
    """Leave a report out; its words are deleted."""
    report = _locked_report(report_id)
    return _decided(report, "reject", actor, at, text="", expected="", remarks={}, reason=reason.strip()[:400])


def _locked_report(report_id: int) -> FailureReport:
    report = FailureReport.objects.select_related("project").get(pk=report_id)
    Project.objects.select_for_update().get(pk=report.project_id)
    reports = FailureReport.objects.select_for_update(of=("self",)).select_related("project", "decided_by")
    report = reports.get(pk=report_id)
    QueryRefused.raise_for(rules.decide_refusal(report), code="report_decided")
    return report


def _decided(report: FailureReport, step: str, actor: User, at: datetime, **changes: Any) -> FailureReport:
    save_step(
        report,
        step,
        REPORT_STEPS.get((report.state, step)),
        project=report.project,
        actor=actor,
        action=f"failure.{step}",
        after={"reason": changes.get("reason", "")},
        at=at,
        decided_by=actor,
        decided_at=at,
        **changes,
    )
    return report
