"""Sends the grades of a version back to the traces that its queries are from."""

from collections.abc import Mapping
from typing import Any

from apps.goldsets import rules
from apps.goldsets.enums import SEND_GRADES, Split
from apps.goldsets.execution.exporting import FORGED, fault_of
from apps.goldsets.execution.traces import VersionTraces
from apps.goldsets.formats.trace_annotations import annotations_of, by_span, langfuse_score, phoenix_annotation
from apps.goldsets.models import Version
from apps.goldsets.selectors.content import VersionContent, part_of
from apps.goldsets.selectors.versions import revoked_sources, traced_in
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.selectors.job_kinds import job_kind
from apps.querylogs.core.trace_servers import LANGFUSE, annotations_request, check_accepted, score_request
from apps.querylogs.execution.fetching import Ask, asking

GONE = (404, 422)
"""What Phoenix says of a span, or of a place in its list, that it does not have (any more)."""


@job_kind(SEND_GRADES, title="Send grades to traces")
def send_grades(ctx: JobContext) -> dict[str, Any]:
    """Send the grades of dev of the version `version_id`, as they were frozen, to the server that the job names.

    What was sent before takes the same again, so another attempt begins anew. The sealed side stays here.
    """
    version = Version.objects.select_related("gold_set__project", "snapshot").get(pk=ctx.params["version_id"])
    if reason := rules.sending_refusal(version, has_traces=traced_in(version).exists()):
        raise JobFailed(reason)
    whole = VersionContent(version)
    if fault := fault_of(version, whole):
        raise JobFailed(f"{fault} {FORGED}")
    part = part_of(
        whole,
        splits=[Split.DEV],
        revoked=revoked_sources(version, at=ctx.at),
        answers=ctx.params["answers"],
        traces=VersionTraces(version),
    )
    spans = list(by_span(annotations_of(part, version.manifest)))
    server, project = ctx.params["server"], version.gold_set.project.slug
    sent, gone, in_list = 0, 0, False
    with asking(ctx, server, ctx.params["address"]) as (ask, path):
        for number, same in enumerate(spans, start=1):
            if server == LANGFUSE:
                for one in same:
                    in_list = _send_score(ask, path, langfuse_score(one, project), in_list=in_list)
                sent += len(same)
            elif ask(annotations_request(path, [phoenix_annotation(one) for one in same]), GONE).status in GONE:
                gone += 1
            else:
                sent += len(same)
            ctx.progress(number, len(spans), "sending grades")
    return {"grades_sent": sent, "spans": len(spans), "spans_gone": gone}


def _send_score(ask: Ask, path: str, score: Mapping[str, Any], *, in_list: bool) -> bool:
    """Send a score, and return whether this server takes scores in a list only."""
    reply = ask(score_request(path, score, in_list=in_list), () if in_list else (400,))
    if reply.status == 400:
        return _send_score(ask, path, score, in_list=True)
    check_accepted(reply)
    return in_list
