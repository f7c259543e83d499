"""The overview of systems, runs and pools, the list of runs, and the pages of systems."""

from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Forbidden, Refusal
from apps.common.web.forms import refusals_shown
from apps.common.web.requests import page_before
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval import rules
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import (
    change_pace,
    create_loaded_system,
    create_remote_system,
    create_system,
    drop_index,
    load_snapshot,
)
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.encoder import is_installed
from apps.retrieval.core.engines.registry import ENGINES, parameters_of
from apps.retrieval.core.engines.remote.servers import SEARCHES, TITLES
from apps.retrieval.enums import DROP, ELSEWHERE, SystemKind
from apps.retrieval.execution.remote_queries import Trial, try_query
from apps.retrieval.forms.remote import FORMS, LoadForm, PaceForm, RemoteForm
from apps.retrieval.forms.runs import VALUE_LABELS, RunForm, SystemForm
from apps.retrieval.models import System
from apps.retrieval.selectors.pools import pools_in
from apps.retrieval.selectors.question_sets import queries_in
from apps.retrieval.selectors.runs import runs_in
from apps.retrieval.selectors.systems import (
    fused_systems,
    loaded_in,
    loaded_index_in,
    searching_systems,
    system_in,
    systems_in,
)

RUNS_SHOWN = 50
AUTHS = {
    "bearer": "as a Bearer token",
    "api_key": "as an ApiKey",
    "basic": "as the password of",
    "header": "in the header",
}
LABELS = {
    "url": "address",
    "index": "index",
    "search_type": "search",
    "snapshot": "snapshot",
    "server": "server",
    "method": "method",
    "query": "query type",
    "fields": "fields",
    "body": "body",
    "ids": "path to the ids",
    "scores": "path to the scores",
    "documents": "path to the documents",
    "texts": "path to the texts",
    "first_pages": "path to the first pages",
    "last_pages": "path to the last pages",
    "strip": "prefix removed from ids",
    "prepend": "prefix added to ids",
    "version": "version",
}


@require_safe
@member_view()
def overview(request: MemberRequest, project: Project) -> HttpResponse:
    """Systems, runs and pools on one page; an empty project shows its next step."""
    runs = list(runs_in(project)[: RUNS_SHOWN + 1])
    context = {
        "systems": systems_in(project),
        "runs": runs[:RUNS_SHOWN],
        "older": len(runs) > RUNS_SHOWN,
        "pools": pools_in(project),
        "has_snapshot": snapshots_in(project).exists(),
        "has_queries": queries_in(project).exists(),
    }
    return render(request, "retrieval/overview.html", context)


@require_safe
@member_view()
def all_runs(request: MemberRequest, project: Project) -> HttpResponse:
    """The ledger of all runs, newest first, in pages."""
    runs, older = page_before(request, runs_in(project), RUNS_SHOWN)
    return render(request, "retrieval/runs.html", {"runs": runs, "older": older})


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_system(request: MemberRequest, project: Project) -> HttpResponse:
    kind = request.GET.get("kind", "")
    if kind not in ENGINES:
        kind = next(iter(ENGINES))
    form = SystemForm(request.POST or None, kind=kind, initial={"name": ENGINES[kind].title})
    if request.method == "POST" and form.is_valid():
        with refusals_shown(form):
            system = create_system(
                project=project,
                name=form.cleaned_data["name"],
                kind=kind,
                parameters=form.parameters,
                words=form.cleaned_data["words"],
                actor=request.user,
                at=timezone.now(),
            )
            return redirect("retrieval:system", slug=project.slug, pk=system.pk)
    kinds = [(name, engine.title) for name, engine in ENGINES.items()]
    needs_model = ENGINES[kind].needs_model
    context = {
        "form": form,
        "kind": kind,
        "kinds": kinds,
        "lacks_packages": needs_model and not is_installed(),
        "lacks_models": needs_model and not form.fields["p_model"].choices,  # type: ignore[attr-defined]
    }
    return render(request, "retrieval/new_system.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def system(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """A system and its runs; for leads with the form that starts a run."""
    shown = system_in(project, pk)
    form = _run_form(request, project, shown)
    if request.method == "POST" and form is not None and form.is_valid():
        with refusals_shown(form):
            run = request_run(
                project=project,
                system_id=shown.pk,
                snapshot_id=form.cleaned_data["snapshot"].pk,
                choice=form.choice,
                depth=form.cleaned_data["depth"],
                tag=form.cleaned_data["tag"],
                note=form.cleaned_data["note"],
                commit=form.cleaned_data["commit"],
                as_role=form.cleaned_data["as_role"],
                abstains_below=form.cleaned_data["abstains_below"],
                actor=request.user,
                at=timezone.now(),
            )
            messages.info(request, f"{run.tag} is queued.")
            return redirect("retrieval:run", slug=project.slug, pk=run.pk)
    context = {
        "system": shown,
        "facts": _facts(shown),
        "runs": runs_in(project).filter(system=shown),
        "form": form,
        "is_elsewhere": shown.kind in ELSEWHERE,
        "has_snapshot": snapshots_in(project).exists(),
    }
    return render(request, "retrieval/system.html", context, status=400 if form and form.errors else 200)


def _run_form(request: MemberRequest, project: Project, system: System) -> RunForm | None:
    """The form that runs the system; None for people who are not leads, and for uploaded systems."""
    is_lead = request.member.is_lead
    if request.method == "POST" and not is_lead:
        raise Forbidden("Only a lead can run a system.", code="leads_only")
    if not is_lead or system.kind == SystemKind.UPLOADED:
        return None
    return RunForm(request.POST or None, project=project)


def _facts(system: System) -> list[tuple[str, object]]:
    """The configuration as labels and texts, in the order of the form."""
    if system.kind in ELSEWHERE:
        return list(_remote_facts(system))
    if system.kind == SystemKind.FUSION:
        fused = fused_systems(system)
        return [("fuses", ", ".join(part.name for part in fused)), ("k", system.config["engine"]["k"])]
    values = system.config.get("engine", {})
    shown = parameters_of(system.kind) if system.kind in ENGINES else ()
    return [(parameter.short, _as_text(values[parameter.name])) for parameter in shown]


def _as_text(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == "":
        return "nothing"
    return VALUE_LABELS.get(value, value) if isinstance(value, str) else value


def _remote_facts(system: System) -> list[tuple[str, str]]:
    """The (label, text) pairs of the settings with a value. A secret is shown by name only."""
    values = system.config["engine"]
    given = [(label, value) for key, label in LABELS.items() if (value := values.get(key))]
    facts = [(label, ", ".join(value) if isinstance(value, list) else str(value)) for label, value in given]
    if "scores" in values and not values["scores"]:
        facts.append(("scores", "none: the order of the answer counts"))
    if values.get("lower_is_better"):
        facts.append(("better is", "a smaller score; it is stored negated"))
    facts += [("header", f"{name}: {value}") for name, value in values.get("headers", {}).items()]
    return [*facts, ("signs in", _auth(values["auth"])), ("limits", _pace(system.config["pace"]))]


def _auth(auth: Mapping[str, str]) -> str:
    if not auth["secret"]:
        return "not at all"
    return f"with the secret {auth['secret']}, {AUTHS[auth['kind']]} {auth['user'] or auth['header']}".rstrip()


def _pace(pace: Mapping[str, float]) -> str:
    rate = f"at most {pace['per_second']:g} per second" if pace["per_second"] else "no limit per second"
    return f"{pace['at_once']:g} parallel requests, {rate}, {pace['tries']:g} tries, {pace['whole']:g} s each"


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
        "is_dropping": index.job is not None and index.job.kind == DROP and index.dropped_at is None,
    }
    return render(request, "retrieval/loaded_index.html", context)


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
