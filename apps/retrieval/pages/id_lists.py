"""Downloads for who prepares a run elsewhere: the ids that its file has to name, as CSV."""

from collections.abc import Iterable
from itertools import chain

from django.http import HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.files.csvsafe import csv_lines
from apps.corpus.selectors.corpora import snapshot_in
from apps.retrieval.selectors.question_sets import QueryChoice, queries_in

AT_ONCE = 2_000


@require_safe
@member_view(Role.LEAD)
def queries_csv(request: HttpRequest, project: Project) -> StreamingHttpResponse:
    """The queries that are not retired, with their ids and texts; or the questions of the set in `?questions=`."""
    key = request.GET.get("questions", "")
    queries = queries_in(project, QueryChoice(questions=key))
    rows = queries.values_list("outside_id", "text").iterator(chunk_size=AT_ONCE)
    name = f"{key.replace('/', '-')}-questions.csv" if key else f"{project.slug}-queries.csv"
    return _table(name, ["query", "text"], rows)


@require_safe
@member_view(Role.LEAD)
def passages_csv(request: HttpRequest, project: Project, pk: int) -> StreamingHttpResponse:
    """The passages of a snapshot with their ids, titles and documents, and their addresses where they have one."""
    snapshot = snapshot_in(project, pk)
    entries = snapshot.entries.order_by("position").values_list(
        "block__outside_id", "version__title", "block__document__outside_id", "version__metadata"
    )
    rows = (
        (block, title, document, str(metadata.get("url") or ""))
        for block, title, document, metadata in entries.iterator(chunk_size=AT_ONCE)
    )
    name = f"{snapshot.corpus.slug}-{snapshot.number}-passages.csv"
    return _table(name, ["passage", "title", "document", "address"], rows)


def _table(name: str, heading: list[str], rows: Iterable[Iterable[str]]) -> StreamingHttpResponse:
    answer = StreamingHttpResponse(csv_lines(chain([heading], rows)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
