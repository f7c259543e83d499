"""Pages of the public release of a version."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import member_user
from apps.corpus.actions.publishing import allow_public_texts, end_public_texts
from apps.goldsets import rules
from apps.goldsets.actions.public import (
    PublicReleaseRefused,
    ask_to_sign,
    decide_public_texts,
    prepare_again,
    publish_release,
    sign_public_release,
    withdraw_public_release,
)
from apps.goldsets.edges.public import (
    built_release_of,
    open_preview,
    prepare_public,
    public_release_of,
    public_zip_response,
)
from apps.goldsets.edges.sealed import log_names
from apps.goldsets.enums import PublicState, StayKind, StayReason
from apps.goldsets.formats.public.files import Order
from apps.goldsets.forms import CardForm, PublicForm, public_initial
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.pages.public_facts import public_facts
from apps.goldsets.pages.versions import PER_PAGE, SECTION
from apps.goldsets.selectors import public, versions
from apps.goldsets.selectors.public_preview import PREVIEWED


@require_safe
@member_view(Role.LEAD)
def public_page(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = _released(project, gold_set, number)
    release = public.live_release(version)
    form = PublicForm(initial=public_initial(version, release))
    return _page(request, version, release, form)


def _page(
    request: HttpRequest, version: Version, release: PublicRelease | None, form: PublicForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "section": SECTION,
        "version": version,
        "form": form,
        "texts": public.public_texts_of(version),
        "texts_refusal": rules.texts_refusal(version),
        "withdrawn": public.public_releases_of(version).filter(state=PublicState.WITHDRAWN),
        "release": release,
    }
    if release is None or not release.is_built:
        context["sources"] = public.public_sources(version, at=timezone.now())
    if release is not None:
        context["busy_refusal"] = rules.busy_refusal(release)
        context["why_not_prepared"] = rules.why_not_prepared(release)
    if release is not None and release.is_built:
        context |= public_facts(release, member_of(request), at=timezone.now())
    return render(request, "goldsets/public.html", context, status=status)


@require_POST
@member_view(Role.LEAD)
def prepare(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """Prepare a release, or prepare the one that is not signed yet again with these choices."""
    version = _released(project, gold_set, number)
    release = public.live_release(version)
    form = PublicForm(request.POST)
    if not form.is_valid():
        return _page(request, version, release, form, status=400)
    prepare_public(version, form.order(), actor=member_of(request).user, at=timezone.now())
    messages.success(request, "Karat is preparing it. Then another lead has to read the preview and sign.")
    return _back(version)


@require_POST
@member_view(Role.LEAD)
def texts(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """Record who lets the texts of the corpus be published, or take it back."""
    version = _released(project, gold_set, number)
    corpus, at, actor = version.snapshot.corpus, timezone.now(), member_of(request).user
    if request.POST.get("public") == "no":
        end_public_texts(corpus_id=corpus.pk, actor=actor, at=at)
        messages.success(request, f"The texts of {corpus} may no longer be published.")
    else:
        owner, evidence = request.POST.get("owner", ""), request.POST.get("evidence", "")
        allow_public_texts(corpus_id=corpus.pk, owner=owner, evidence=evidence, actor=actor, at=at)
        messages.success(request, f"The texts of {corpus} may be published.")
    return _back(version)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def card(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    release = _built_release(project, gold_set, number)
    form = CardForm(request.POST or None, initial=release.card)
    if request.method == "POST" and form.is_valid():
        order = Order(release.title, release.holder, release.licence, tuple(release.splits), form.texts)
        prepare_again(release_id=release.pk, order=order, actor=member_of(request).user, at=timezone.now())
        messages.success(request, "The data card is saved, and the release is being prepared with it.")
        return _back(release.version)
    context = {
        "section": SECTION,
        "version": release.version,
        "release": release,
        "form": form,
        "refusal": rules.change_public_refusal(release),
    }
    return render(request, "goldsets/public_card.html", context, status=400 if form.errors else 200)


@require_safe
@member_view(Role.LEAD)
def preview(request: HttpRequest, project: Project, gold_set: str, number: int, kind: str, record: int) -> HttpResponse:
    release = _built_release(project, gold_set, number)
    shown = open_preview(release, kind, record, member=member_of(request), at=timezone.now())
    context = {
        "section": SECTION,
        "version": release.version,
        "release": release,
        "shown": shown,
        "kinds": [(one, StayKind(one).label) for one in PREVIEWED],
    }
    return render(request, "goldsets/public_preview.html", context)


@require_safe
@member_view(Role.LEAD)
def stays(request: HttpRequest, project: Project, gold_set: str, number: int, kind: str, reason: str) -> HttpResponse:
    release = _built_release(project, gold_set, number)
    if kind not in StayKind.values or reason not in StayReason.values:
        raise Http404("No such list.")
    page = Paginator(public.stays_in(release, kind=kind, reason=reason), PER_PAGE).get_page(request.GET.get("page"))
    log_names(release.version, member_of(request), (row.name for row in page), "what stays in")
    context = {
        "section": SECTION,
        "version": release.version,
        "release": release,
        "kind": StayKind(kind).label,
        "reason": StayReason(reason).label,
        "page": page,
    }
    return render(request, "goldsets/public_stays.html", context)


@require_POST
@member_view(Role.LEAD)
def decide(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """Let texts that were found go out all the same, or take that back."""
    allowed = request.POST.get("allowed") == "yes"
    done = "These texts may go out." if allowed else "These texts must not go out any more."
    inputs = {"texts": request.POST.getlist("text"), "allowed": allowed, "reason": request.POST.get("reason", "")}
    done = f"{done} Karat is preparing the release again."
    return _step(request, _release(project, gold_set, number), decide_public_texts, done, **inputs)


@require_POST
@member_view(Role.LEAD)
def ask(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    chosen = request.POST.get("lead", "")
    if not chosen.isdecimal():
        raise PublicReleaseRefused("Choose the lead who is to sign.", code="lead_missing")
    lead = member_user(project, int(chosen))
    done = f"{lead} is asked to read the preview and sign."
    return _step(request, _release(project, gold_set, number), ask_to_sign, done, lead=lead)


@require_POST
@member_view(Role.LEAD)
def sign(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    done = "Your signature is noted. It counts once Karat has seen that what goes out is what you read."
    return _step(request, _release(project, gold_set, number), sign_public_release, done)


@require_POST
@member_view(Role.LEAD)
def publish(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    done = "It goes out once Karat has seen that it is what was signed."
    return _step(request, _release(project, gold_set, number), publish_release, done)


@require_POST
@member_view(Role.LEAD)
def withdraw(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    release, reason = _release(project, gold_set, number), request.POST.get("reason", "")
    done = "The public release is withdrawn."
    if release.released_at is not None:
        done = f"{done} Copies that others have stay where they are."
    return _step(request, release, withdraw_public_release, done, reason=reason)


def _step(
    request: HttpRequest, release: PublicRelease, act: Callable[..., PublicRelease], done: str, **inputs: Any
) -> HttpResponse:
    """Do one step of a release, say what was done, and go back to its page."""
    act(release_id=release.pk, actor=member_of(request).user, at=timezone.now(), **inputs)
    messages.success(request, done)
    return _back(release.version)


@require_safe
@member_view()
def file(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """The zip of the public release; before it is released leads get what is prepared."""
    release, member = _release(project, gold_set, number), member_of(request)
    return public_zip_response(release, member, at=timezone.now())


def _released(project: Project, gold_set: str, number: int) -> Version:
    version = versions.version_in(project, gold_set, number)
    if version.released_at is None:
        raise Http404("Only a released version goes out.")
    return version


def _built_release(project: Project, gold_set: str, number: int) -> PublicRelease:
    return built_release_of(versions.version_in(project, gold_set, number))


def _release(project: Project, gold_set: str, number: int) -> PublicRelease:
    return public_release_of(versions.version_in(project, gold_set, number))


def _back(version: Version) -> HttpResponse:
    gold_set = version.gold_set
    return redirect(reverse("goldsets:public", args=[gold_set.project.slug, gold_set.slug, version.number]))
