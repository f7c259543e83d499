"""Pages of the public release of a version."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import member_user
from apps.common.errors import Forbidden
from apps.corpus.actions.publishing import allow_public_texts, end_public_texts
from apps.goldsets import actions, rules
from apps.goldsets.actions import PublicReleaseRefused
from apps.goldsets.enums import PublicState, StayKind, StayReason
from apps.goldsets.execution import publishing
from apps.goldsets.formats.public.files import Order
from apps.goldsets.forms import CardForm, PublicForm, public_initial
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.pages.public_facts import public_facts
from apps.goldsets.pages.versions import PER_PAGE, SECTION
from apps.goldsets.selectors import public, versions


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
    if release is not None:
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
    at, actor = timezone.now(), member_of(request).user
    if release is None:
        release = actions.prepare_public_release(version_id=version.pk, order=form.order(), actor=actor, at=at)
    else:
        actions.prepare_again(release_id=release.pk, order=form.order(release), actor=actor, at=at)
    messages.success(request, "The public release is prepared. Another lead has to read the preview and sign.")
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
    release = _release(project, gold_set, number)
    form = CardForm(request.POST or None, initial=release.card)
    if request.method == "POST" and form.is_valid():
        order = Order(release.title, release.holder, release.licence, tuple(release.splits), form.texts)
        actions.prepare_again(release_id=release.pk, order=order, actor=member_of(request).user, at=timezone.now())
        messages.success(request, "The data card is saved, and the release prepared with it.")
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
    """One record as it goes out. Opening it is what a lead does before signing, and is on the record."""
    release = _release(project, gold_set, number)
    if kind not in publishing.PREVIEWED:
        raise Http404("No such records.")
    shown = publishing.preview_record(release, kind, record, at=timezone.now())
    actions.log_public_look(release=release, actor=member_of(request).user, at=timezone.now())
    context = {
        "section": SECTION,
        "version": release.version,
        "release": release,
        "shown": shown,
        "kinds": [(one, StayKind(one).label) for one in publishing.PREVIEWED],
    }
    return render(request, "goldsets/public_preview.html", context)


@require_safe
@member_view(Role.LEAD)
def stays(request: HttpRequest, project: Project, gold_set: str, number: int, kind: str, reason: str) -> HttpResponse:
    release = _release(project, gold_set, number)
    if kind not in StayKind.values or reason not in StayReason.values:
        raise Http404("No such list.")
    context = {
        "section": SECTION,
        "version": release.version,
        "release": release,
        "kind": StayKind(kind).label,
        "reason": StayReason(reason).label,
        "page": Paginator(public.stays_because(release, kind, reason), PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "goldsets/public_stays.html", context)


@require_POST
@member_view(Role.LEAD)
def ask(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    release = _release(project, gold_set, number)
    chosen = request.POST.get("lead", "")
    if not chosen.isdecimal():
        raise PublicReleaseRefused("Choose the lead who is to sign.", code="lead_missing")
    lead = member_user(project, int(chosen))
    actions.ask_to_sign(release_id=release.pk, lead=lead, actor=member_of(request).user, at=timezone.now())
    messages.success(request, f"{lead} is asked to read the preview and sign.")
    return _back(release.version)


@require_POST
@member_view(Role.LEAD)
def sign(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    release = _release(project, gold_set, number)
    actions.sign_public_release(release_id=release.pk, actor=member_of(request).user, at=timezone.now())
    messages.success(request, "Signed. It can be released to the public now.")
    return _back(release.version)


@require_POST
@member_view(Role.LEAD)
def publish(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    release = _release(project, gold_set, number)
    actions.publish_release(release_id=release.pk, actor=member_of(request).user, at=timezone.now())
    messages.success(request, "Released to the public. Hand on the zip file: its bytes no longer change.")
    return _back(release.version)


@require_POST
@member_view(Role.LEAD)
def withdraw(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    release = _release(project, gold_set, number)
    reason = request.POST.get("reason", "")
    actions.withdraw_public_release(
        release_id=release.pk, reason=reason, actor=member_of(request).user, at=timezone.now()
    )
    messages.success(request, "The public release is withdrawn. Copies that others have stay where they are.")
    return _back(release.version)


@require_safe
@member_view()
def file(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """The zip of the public release; before it is released leads get it as it would be now."""
    release, member = _release(project, gold_set, number), member_of(request)
    if reason := rules.download_refusal(member, release):
        raise Forbidden(reason, code="not_public")
    at = timezone.now()
    if release.state == PublicState.RELEASED:
        stream = publishing.stored_zip(release)
    else:
        stream = publishing.zip_as_prepared(release, at=at)
    actions.log_public_download(release=release, actor=member.user, at=at)
    name = publishing.labels_of(release.version, release).file_name
    answer = FileResponse(stream, as_attachment=True, filename=name, content_type="application/zip")
    answer["X-Content-Type-Options"] = "nosniff"
    return cast(HttpResponse, answer)  # a streamed answer is one in all but its class


def _released(project: Project, gold_set: str, number: int) -> Version:
    version = versions.version_in(project, gold_set, number)
    if version.released_at is None:
        raise Http404("Only a released version goes out.")
    return version


def _release(project: Project, gold_set: str, number: int) -> PublicRelease:
    release = public.live_release(_released(project, gold_set, number))
    if release is None:
        raise Http404("There is no public release of this version.")
    return release


def _back(version: Version) -> HttpResponse:
    gold_set = version.gold_set
    return redirect(reverse("goldsets:public", args=[gold_set.project.slug, gold_set.slug, version.number]))
