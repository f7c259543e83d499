"""The pages of systems elsewhere, and of the indexes that snapshots were loaded into."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.common.web.forms import refusals_shown
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval import rules
from apps.retrieval.actions.loading import create_loaded_system, drop_index, load_snapshot
from apps.retrieval.actions.systems import change_pace, create_remote_system
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.servers import SEARCHES, TITLES
from apps.retrieval.enums import DROP, ELSEWHERE, SystemKind
from apps.retrieval.execution.remote_queries import Trial, try_query
from apps.retrieval.forms.remote import FORMS, LoadForm, PaceForm, RemoteForm
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.selectors.systems import loaded_in, loaded_index_in, searching_systems, system_in


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def loaded(request: MemberRequest, project: Project) -> HttpResponse:
    """The loaded indexes of the project, and the form that loads a snapshot."""
    chosen = {"snapshot": request.GET.get("snapshot", "")}
    form = LoadForm(request.POST or None, project=project, initial=chosen)
    if request.method == "POST" and form.is_valid():
        with refusals_shown(form):
            index = load_snapshot(
                project=project,
                snapshot_id=form.cleaned_data["snapshot"].pk,
                url=form.cleaned_data["url"],
                auth=form.auth,
                dense_id=form.cleaned_data["vectors"].pk if form.cleaned_data["vectors"] else None,
                actor=request.user,
                at=timezone.now(),
            )
            return redirect("retrieval:loaded-index", slug=project.slug, pk=index.pk)
    context = {"form": form, "indexes": loaded_in(project), "titles": TITLES}
    return render(request, "retrieval/loaded.html", context, status=400 if form.errors else 200)


@require_safe
@member_view(Role.LEAD)
def loaded_index(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """One index: its progress or what went wrong, the systems that search it, and the way to drop it."""
    index = loaded_index_in(project, pk)
    refusals = {search: rules.loaded_search_refusal(index, search) for search in SEARCHES}
    context = {
        "index": index,
        "server": f"{TITLES[index.server]} {index.server_version}" if index.server else "",
        "systems": searching_systems(index),
        "searches": [(search, label, refusals[search]) for search, label in SEARCHES.items()],
        "refusals": [*dict.fromkeys(filter(None, refusals.values()))],
        "drop_refusal": rules.drop_refusal(index),
        "is_dropping": _is_dropping(index),
    }
    return render(request, "retrieval/loaded_index.html", context)


def _is_dropping(index: LoadedIndex) -> bool:
    """Whether its newest job drops it, or tried to."""
    return index.job is not None and index.job.kind == DROP and index.dropped_at is None


@require_POST
@member_view(Role.LEAD)
def drop(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    index = loaded_index_in(project, pk)
    drop_index(index=index, actor=request.user, at=timezone.now())
    return redirect("retrieval:loaded-index", slug=project.slug, pk=index.pk)


@require_POST
@member_view(Role.LEAD)
def search(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Create a system that searches the index."""
    index = loaded_index_in(project, pk)
    wanted = request.POST.get("search", "")
    if wanted not in SEARCHES:
        raise Refusal(f"Choose one of {', '.join(SEARCHES)}.", code="bad_search")
    system = create_loaded_system(
        project=project, index_id=index.pk, search=wanted, actor=request.user, at=timezone.now()
    )
    messages.success(request, f"{system.name} is ready. Run it on its snapshot.")
    return redirect("retrieval:system", slug=project.slug, pk=system.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_remote(request: MemberRequest, project: Project) -> HttpResponse:
    """Create a system elsewhere, or try it with one query first."""
    kind = request.GET.get("kind", "")
    if kind not in FORMS:
        kind = next(iter(FORMS))
    form = FORMS[kind](request.POST or None, project=project, initial={"name": SystemKind(kind).label})
    trial = None
    if request.method == "POST" and form.is_valid():
        if "try" in request.POST:
            trial = _trial(form, kind, project)
        elif system := _created(form, kind, request, project):
            return redirect("retrieval:system", slug=project.slug, pk=system.pk)
    context = {
        "form": form,
        "kind": kind,
        "kinds": [(name, SystemKind(name).label) for name in FORMS],
        "trial": trial,
        "has_snapshot": snapshots_in(project).exists(),
    }
    return render(request, "retrieval/new_remote.html", context, status=400 if form.errors else 200)


def _created(form: RemoteForm, kind: str, request: MemberRequest, project: Project) -> System | None:
    """The new system, or None with an error in the form."""
    with refusals_shown(form):
        return create_remote_system(
            project=project,
            name=form.cleaned_data["name"],
            kind=kind,
            parameters=form.parameters,
            pace=form.pace,
            actor=request.user,
            at=timezone.now(),
        )
    return None


def _trial(form: RemoteForm, kind: str, project: Project) -> Trial | None:
    """The outcome of one query, or None with an error in the form."""
    values = form.cleaned_data
    for name, message in (("question", "Enter a query to try."), ("snapshot", "Freeze a snapshot first.")):
        if not values[name]:
            form.add_error(name, message)
            return None
    try:
        return try_query(project, kind, form.parameters, values["snapshot"], values["question"])
    except BadParameters as error:
        form.add_error(None, str(error))
        return None


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def pace(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Change the request limits of a system elsewhere, from its next run on."""
    system = system_in(project, pk)
    if system.kind not in ELSEWHERE:
        raise Refusal(f"Karat runs {system.name} itself; it has no request limits.", code="no_pace")
    form = PaceForm(request.POST or None, initial=system.config["pace"])
    if request.method == "POST" and form.is_valid():
        change_pace(system=system, pace=form.pace, actor=request.user, at=timezone.now())
        messages.success(request, f"{system.name} uses these limits from its next run on.")
        return redirect("retrieval:system", slug=project.slug, pk=system.pk)
    context = {"form": form, "system": system}
    return render(request, "retrieval/pace.html", context, status=400 if form.errors else 200)
