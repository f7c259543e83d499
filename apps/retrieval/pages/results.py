"""The download of what a run returned, in the form in which results are uploaded."""

from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import MemberRequest, member_view
from apps.accounts.models import Project
from apps.common.digests import canonical_json
from apps.common.errors import Forbidden
from apps.retrieval import rules
from apps.retrieval.core.passages import as_stored
from apps.retrieval.models import Run
from apps.retrieval.selectors.blinding import hidden_queries
from apps.retrieval.selectors.returned import returned_of
from apps.retrieval.selectors.runs import names_of_ranked, run_in


@require_safe
@member_view()
def results_jsonl(request: MemberRequest, project: Project, pk: int) -> StreamingHttpResponse:
    """One line for each result, by outside id of the query and rank: a run that is uploaded so again is the same."""
    run = run_in(project, pk)
    names = names_of_ranked(run)
    refusal = rules.results_refusal(request.member.roles, run)
    if refusal is None:
        refusal = next(iter(hidden_queries(request.user, run.snapshot, names).values()), None)
    if refusal is not None:
        raise Forbidden(refusal, code="results_hidden")
    answer = StreamingHttpResponse(_lines(run, names), content_type="application/jsonl; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slugify(run.tag)}-results.jsonl"'
    return answer


def _lines(run: Run, names: dict[int, str]) -> Iterator[bytes]:
    for query_id, top in returned_of(run, list(names), with_text=run.returns_passages):
        for rank, one in enumerate(as_stored(top), 1):
            yield canonical_json({"qid": names[query_id], "rank": rank, **one}) + b"\n"
