"""Opening the bench: empty, from a block or a query, or on an open revision."""

from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project
from apps.corpus.selectors.corpora import freezable_in
from apps.queries.models import Query
from apps.triples import rules
from apps.triples.edges.bench import Bench, bench_of, render_bench
from apps.triples.edges.writing import query_of, snapshot_for
from apps.triples.forms.bench import BenchForm
from apps.triples.forms.block_fieldset import SentBlock, whole
from apps.triples.pages.audience import READERS, WRITERS, words_sought
from apps.triples.selectors.triples import (
    entry_of_block,
    newest_snapshot_of_block,
    open_revision,
    triple_for,
    writing_snapshot,
)


def wanted_block(request: HttpRequest) -> int | None:
    return whole(request.GET.get("block", ""))


@member_view(*READERS)
@require_safe
def bench(request: HttpRequest, project: Project) -> HttpResponse:
    """An empty bench: from a block (`?block=`), a query (`?query=`) or nothing. People who only review get the list."""
    if not member_of(request).holds(*WRITERS):
        return redirect("triples:list", slug=project.slug)
    wanted = wanted_block(request)
    snapshot = (newest_snapshot_of_block(project, wanted) if wanted else None) or snapshot_for(request, project)
    if snapshot is None:
        context = {"section": "Write Q&A", "freezable": freezable_in(project)}
        return render(request, "triples/no_snapshot.html", context)
    query = query_of(project, request.GET.get("query", ""))
    # With a search, a block is only shown to read.
    expected = wanted if wanted and not words_sought(request) and entry_of_block(snapshot, wanted) else None
    initial = {
        "seen_version": 0,
        "corpus": snapshot.corpus_id,
        "key": uuid4().hex,
        "blocks": [SentBlock(expected)] if expected else [],
    }
    form = BenchForm(project=project, snapshot=snapshot, initial=initial | (_from_query(query) if query else {}))
    page = Bench(project, member_of(request).user, snapshot, form, query=query, wanted_block=wanted)
    page.sought = words_sought(request) or (query.text if query else "")
    return render_bench(request, page)


def _from_query(query: Query) -> dict[str, Any]:
    return {
        "query": query.pk,
        "question": query.text,
        "source": query.source_id,
        "domain": query.domain,
        "difficulty": query.difficulty,
    }


@member_view(*WRITERS)
@require_safe
def edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The bench of the open revision."""
    triple = triple_for(member_of(request), pk)
    revision = open_revision(triple)
    if revision is None or rules.write_refusal(member_of(request).user, revision):
        return redirect("review:triple", slug=project.slug, pk=triple.pk)
    page = bench_of(project, member_of(request).user, writing_snapshot(triple), triple, revision)
    page.sought, page.wanted_block = words_sought(request), wanted_block(request)
    return render_bench(request, page)
