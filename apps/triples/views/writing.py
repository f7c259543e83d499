"""What a bench is written against, and which draft it became."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.triples.chosen import whole
from apps.triples.models import Triple
from apps.triples.selectors import newest_snapshot, writing_snapshot

STARTED = "bench-started"
MOST_STARTED = 20


def snapshot_for(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot | None:
    """What is written against: the newest of the triple's corpus, of the corpus that was named, or of all."""
    if triple is not None:
        return writing_snapshot(triple)
    corpus = whole((request.POST or request.GET).get("corpus", ""))
    named = newest_snapshot(project, corpus) if corpus else None
    return named or newest_snapshot(project)


def snapshot_or_404(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot:
    """The same; Http404 before any snapshot is frozen."""
    snapshot = snapshot_for(request, project, triple)
    if snapshot is None:
        raise Http404("No snapshot is frozen.")
    return snapshot


def query_of(project: Project, text: str) -> Query | None:
    """The query whose key was sent; None for no number, Http404 for a query of another project."""
    number = whole(text)
    return get_object_or_404(Query, project=project, pk=number) if number is not None else None


def started_draft(request: HttpRequest) -> int | None:
    """The draft that this bench became by an earlier post, as this session remembers it."""
    return request.session.get(STARTED, {}).get(request.POST.get("started", ""))


def started_meanwhile(request: HttpRequest, project: Project) -> int | None:
    """The same, with what a post that was under way beside this one has become.

    Call it in a transaction: until its end no other new draft of the project is started. A page that is loaded again
    sends its words once more while the server may still be at work on the first time.
    """
    if request.POST.get("started") and request.session.session_key:
        Project.objects.select_for_update().get(pk=project.pk)
        request.session[STARTED] = type(request.session)(request.session.session_key).get(STARTED, {})
    return started_draft(request)


def remember_started(request: HttpRequest, key: str, triple: Triple) -> None:
    """Kept before the transaction ends, for `started_meanwhile`."""
    if key:
        known = list(request.session.get(STARTED, {}).items())[1 - MOST_STARTED :]
        request.session[STARTED] = dict(known) | {key: triple.pk}
        request.session.save()
