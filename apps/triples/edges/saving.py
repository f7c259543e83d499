"""Saving what was written on the bench, and the snapshot to write against, for pages and the API."""

from django.db import transaction
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone

from apps.accounts.edges.access import member_of
from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.triples import rules
from apps.triples.actions import triples
from apps.triples.edges.bench import Bench
from apps.triples.forms.bench import BenchForm
from apps.triples.forms.block_fieldset import changed, whole
from apps.triples.models import Revision, Triple
from apps.triples.selectors.triples import draft_of_key, newest_snapshot, open_revision, triple_for, writing_snapshot


def snapshot_for(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot | None:
    """The snapshot to write against: the newest of the triple's corpus, of the corpus in the request, or of all."""
    if triple is not None:
        return writing_snapshot(triple)
    corpus = whole((request.POST or request.GET).get("corpus", ""))
    named = newest_snapshot(project, corpus) if corpus else None
    return named or newest_snapshot(project)


def snapshot_or_404(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot:
    """The same; Http404 before any snapshot is frozen."""
    snapshot = snapshot_for(request, project, triple)
    if snapshot is None:
        raise Http404("There is no snapshot yet. Freeze one first.")
    return snapshot


def query_of(project: Project, text: str) -> Query | None:
    """The query whose key was sent; None when it is no number, Http404 for a query of another project."""
    number = whole(text)
    return get_object_or_404(Query, project=project, pk=number) if number is not None else None


def started_draft(request: HttpRequest, project: Project) -> Triple | None:
    """The draft that an earlier post of the same new bench made; None without one."""
    return draft_of_key(project, member_of(request).user, request.POST.get("key", ""))


@transaction.atomic
def save_bench(request: HttpRequest, project: Project, pk: int | None) -> tuple[Bench, Triple | None]:
    """Save the posted bench, as a new draft or into the open revision.

    Returns the bench, and the triple, or None when a field is invalid or somebody saved in between: then the bench has
    all posted values and the faults. A new draft posted a second time, after a lost response or a double click, is
    saved into the draft of the first post.
    """
    triple = triple_for(member_of(request), pk) if pk else started_draft(request, project)
    snapshot = snapshot_or_404(request, project, triple)
    form = BenchForm(changed(request.POST), project=project, snapshot=snapshot)
    page = Bench(project, member_of(request).user, snapshot, form, triple=triple)
    if triple is not None:
        page.revision, page.query = _writable(request, triple), triple.query
    if not form.is_valid():
        page.notice = "Nothing was saved: please check the marked field."
        return page, None
    try:
        return page, _store(request, page)
    except triples.AlreadyStarted as meanwhile:
        return save_bench(request, project, meanwhile.triple.pk)
    except triples.EditConflict as conflict:
        page.notice = conflict.sentence
        return page, None


def _writable(request: HttpRequest, triple: Triple) -> Revision:
    revision = open_revision(triple)
    if revision is None:
        raise triples.DraftRefused("No revision is open, so the wording cannot be changed.", code="no_open_revision")
    if reason := rules.write_refusal(member_of(request).user, revision):
        raise triples.DraftRefused(reason, code="not_editable")
    return revision


def _store(request: HttpRequest, page: Bench) -> Triple:
    data, at = page.form.cleaned_data, timezone.now()
    if page.triple is not None:
        return triples.save_draft(
            project=page.project,
            triple_id=page.triple.pk,
            author=page.person,
            seen_version=data["seen_version"] or 0,
            snapshot=page.snapshot,
            wording=page.form.wording(),
            at=at,
        )
    query = get_object_or_404(Query, project=page.project, pk=data["query"]) if data["query"] else None
    return triples.start_draft(
        project=page.project,
        author=page.person,
        snapshot=page.snapshot,
        wording=page.form.wording(),
        query=query,
        idempotency_key=data["key"],
        at=at,
    )
