"""The snapshot that a bench uses, and the draft that a new bench has become."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from apps.accounts.edges.access import member_of
from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.triples.forms.block_fieldset import whole
from apps.triples.models import Triple
from apps.triples.selectors.triples import draft_of_key, newest_snapshot, writing_snapshot


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
