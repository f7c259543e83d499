"""Pages of the public release of a version, with the checks that it has to pass."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import Member, member_user, policy
from apps.common.text.wording import plural
from apps.common.web.requests import key_in
from apps.corpus.actions.corpora import allow_public_texts, end_public_texts
from apps.goldsets import presenters, rules
from apps.goldsets.access import log_names
from apps.goldsets.actions import public as actions
from apps.goldsets.enums import PublicState, Split, StayKind, StayReason
from apps.goldsets.execution.publishing import labels_of, order_of
from apps.goldsets.formats.public.card import BY_KEY, SECTIONS, filled
from apps.goldsets.formats.public.files import Order, ten_lines
from apps.goldsets.forms import CardForm, PublicForm, public_initial
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.pages.versions import PER_PAGE
from apps.goldsets.selectors import public, versions
from apps.goldsets.selectors.public import PREVIEWED

KIND_WORDS = {
    "triples": "Questions and answers",
    "queries": "Graded queries",
    "pairs": "Graded pairs",
    "passages": "Passages, full text",
}
FIELD_WORDS = {
    "title": ("title of a passage", "titles of passages"),
    "document_title": ("title of a document", "titles of documents"),
    "section": ("heading", "headings"),
    "intent": ("intent", "intents"),
    "description": ("description", "descriptions"),
    "domain": ("domain", "domains"),
    "difficulty": ("difficulty", "difficulties"),
    "query_type": ("type", "types"),
}


class Check(NamedTuple):
    """`state` is pass, warn or stop."""

    state: str
    title: str
    words: str
    fact: str = ""

    @property
    def icon(self) -> str:
        return "check" if self.state == "pass" else self.state


class KindCounts(NamedTuple):
    """How many of a kind the version has, go out, and stay in."""

    kind: str
    words: str
    inside: int
    going: int

    @property
    def staying(self) -> int:
        return self.inside - self.going


def public_facts(release: PublicRelease, member: Member, *, at: datetime) -> dict[str, Any]:
    counts = release.report["counts"]
    rows = [
        KindCounts(kind, words, counts[kind]["inside"], counts[kind]["going"]) for kind, words in KIND_WORDS.items()
    ]
    checks = checks_of(release)
    leads = list(public.other_leads(release))
    asked = release.asked if release.asked in leads else next(iter(leads), None)
    groups = public.stays_of(release)
    by_kind = {row.kind: row for row in rows}
    labels = labels_of(release.version, order_of(release))
    return {
        "rows": rows,
        "checks": checks,
        "done": sum(check.state == "pass" for check in checks),
        "finding": _finding(release, by_kind),
        "stay_groups": [(by_kind[kind], groups[kind]) for kind in StayKind if groups[kind]],
        "leads": leads,
        "to_ask": asked,
        "check_failed": rules.check_failure(release),
        "hits": release.report.get("hits", []),
        "allowed": policy(release.version.gold_set.project, "allowed_public"),
        "has_opened": public.has_opened(release, member.user),
        "sign_refusal": rules.busy_refusal(release) or rules.sign_refusal(release, member.user),
        "publish_refusal": rules.publish_refusal(release) or rules.busy_refusal(release),
        "ended": public.no_longer_public(release, at=at),
        "lines": [line.split("`") for line in ten_lines(labels, {row.kind: row.going for row in rows})],
        "file_name": labels.file_name,
        "licence": BY_KEY[release.licence],
        "card_sections": [(section.title, release.card.get(section.key, "")) for section in SECTIONS],
        "first_kind": "triples" if by_kind["triples"].going else "queries",
    }


def _finding(release: PublicRelease, rows: dict[str, KindCounts]) -> str:
    triples, queries = rows["triples"], rows["queries"]
    row, words = (triples, "Q&As") if triples.inside else (queries, "queries")
    how_many = f"{row.going:,} of {row.inside:,} {words}"
    if release.state == PublicState.PREPARED:
        return f"{how_many} can go out; one signature is missing."
    if release.state == PublicState.SIGNED:
        return f"{how_many} can go out; it is signed and waits to be released."
    return f"{how_many} are public."


def checks_of(release: PublicRelease) -> list[Check]:
    """What is missing first, then what to look at, then what is done."""
    checks = [_signature(release), _words(release), _emptied(release), _test(release)]
    checks += [_permissions(release), _people(release), _card(release)]
    order = {"stop": 0, "warn": 1, "pass": 2}
    return sorted((check for check in checks if check), key=lambda check: order[check.state])


def _signature(release: PublicRelease) -> Check:
    if release.signed_by is None:
        words = f"{release.prepared_by} prepared this release; someone else has to read the preview and sign."
        return Check("stop", "Second lead’s sign-off is missing.", words)
    return Check("pass", "A second lead has signed.", f"{release.signed_by} has read the preview and signed.")


def _words(release: PublicRelease) -> Check:
    count, found = release.report["words"], release.report["forbidden"]
    if found:
        words = f"“{found[1]}” is in {found[0]}. Change the title, who is credited or the data card, or let it go out."
        return Check("stop", "A text that must not go out is in a file.", words, f"1 of {count:,}")
    words = f"{count:,} internal words and names, and addresses, numbers and tokens: searched for in every text."
    return Check("pass", "No internal word, name, address or token is in any file.", words, f"0 of {count:,}")


def _emptied(release: PublicRelease) -> Check | None:
    emptied = release.report["emptied"]
    if not emptied:
        return None
    parts = [f"{number:,} {FIELD_WORDS[name][number != 1]}" for name, number in emptied.items()]
    words = f"A word, name or address that must not go out was in {', '.join(parts)}. They go out without it."
    total = sum(emptied.values())
    return Check("warn", "Some fields go out empty.", words, plural(total, "field"))


def _test(release: PublicRelease) -> Check | None:
    if Split.TEST not in release.splits:
        return None
    words = "Anybody can tune a system on it. Scores on test then say less about systems that know it."
    return Check("warn", "The test split goes out and is no longer sealed.", words)


def _permissions(release: PublicRelease) -> Check:
    counts = release.report["counts"]
    going = counts["triples"]["going"] + counts["queries"]["going"]
    words = "Every query and Q&A that goes out has a permission in force that says “public”."
    return Check("pass", "Nothing internal goes out.", words, f"{going:,} of {going:,}")


def _people(release: PublicRelease) -> Check:
    people = release.report["people"]
    words = "Authors become P1." if people else "No Q&A goes out, so nobody has to be renamed."
    if people > 1:
        words = f"Authors and reviewers become P1 to P{people}."
    return Check("pass", "No person is named.", words, "0 left")


def _card(release: PublicRelease) -> Check:
    number = filled(release.card)
    state = "pass" if number == len(SECTIONS) else "warn"
    words = f"{BY_KEY[release.licence].name}; card of {len(SECTIONS)} sections."
    title = "Licence and data card are filled in." if state == "pass" else "The data card has empty sections."
    return Check(state, title, words, f"{number} of {len(SECTIONS)}")


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
    presenters.prepare_public(version, form.order(), actor=user_of(request), at=timezone.now())
    messages.success(request, "Karat is preparing it. Then another lead has to read the preview and sign.")
    return _back(version)


@require_POST
@member_view(Role.LEAD)
def texts(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """Record who lets the texts of the corpus be published, or take it back."""
    version = _released(project, gold_set, number)
    corpus, at, actor = version.snapshot.corpus, timezone.now(), user_of(request)
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
        actions.prepare_again(release_id=release.pk, order=order, actor=user_of(request), at=timezone.now())
        messages.success(request, "The data card is saved, and the release is being prepared with it.")
        return _back(release.version)
    context = {**_shown(release), "form": form, "refusal": rules.change_public_refusal(release)}
    return render(request, "goldsets/public_card.html", context, status=400 if form.errors else 200)


def _shown(release: PublicRelease) -> dict[str, Any]:
    return {"version": release.version, "release": release}


@require_safe
@member_view(Role.LEAD)
def preview(request: HttpRequest, project: Project, gold_set: str, number: int, kind: str, record: int) -> HttpResponse:
    release = _built_release(project, gold_set, number)
    shown = presenters.open_preview(release, kind, record, member=member_of(request), at=timezone.now())
    kinds = [(one, StayKind(one).label) for one in PREVIEWED]
    return render(request, "goldsets/public_preview.html", {**_shown(release), "shown": shown, "kinds": kinds})


@require_safe
@member_view(Role.LEAD)
def stays(request: HttpRequest, project: Project, gold_set: str, number: int, kind: str, reason: str) -> HttpResponse:
    release = _built_release(project, gold_set, number)
    if kind not in StayKind.values or reason not in StayReason.values:
        raise Http404("No such list.")
    page = Paginator(public.stays_in(release, kind=kind, reason=reason), PER_PAGE).get_page(request.GET.get("page"))
    log_names(release.version, member_of(request), (row.name for row in page), "what stays in")
    context = {**_shown(release), "kind": StayKind(kind).label, "reason": StayReason(reason).label, "page": page}
    return render(request, "goldsets/public_stays.html", context)


@require_POST
@member_view(Role.LEAD)
def decide(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """Let texts that were found go out all the same, or take that back."""
    allowed = request.POST.get("allowed") == "yes"
    done = "These texts may go out." if allowed else "These texts must not go out any more."
    inputs = {"texts": request.POST.getlist("text"), "allowed": allowed, "reason": request.POST.get("reason", "")}
    done = f"{done} Karat is preparing the release again."
    return _step(request, _release(project, gold_set, number), actions.decide_public_texts, done, **inputs)


@require_POST
@member_view(Role.LEAD)
def ask(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    chosen = key_in(request.POST.get("lead", ""))
    if chosen is None:
        raise actions.PublicReleaseRefused("Choose the lead who is to sign.", code="lead_missing")
    lead = member_user(project, chosen)
    done = f"{lead} is asked to read the preview and sign."
    return _step(request, _release(project, gold_set, number), actions.ask_to_sign, done, lead=lead)


@require_POST
@member_view(Role.LEAD)
def sign(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    done = "Your signature is noted. It counts once Karat has seen that what goes out is what you read."
    return _step(request, _release(project, gold_set, number), actions.sign_public_release, done)


@require_POST
@member_view(Role.LEAD)
def publish(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    done = "It goes out once Karat has seen that it is what was signed."
    return _step(request, _release(project, gold_set, number), actions.publish_release, done)


@require_POST
@member_view(Role.LEAD)
def withdraw(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    release, reason = _release(project, gold_set, number), request.POST.get("reason", "")
    done = "The public release is withdrawn."
    if release.released_at is not None:
        done = f"{done} Copies that others have stay where they are."
    return _step(request, release, actions.withdraw_public_release, done, reason=reason)


def _step(
    request: HttpRequest, release: PublicRelease, act: Callable[..., PublicRelease], done: str, **inputs: Any
) -> HttpResponse:
    """Do one step of a release, say what was done, and go back to its page."""
    act(release_id=release.pk, actor=user_of(request), at=timezone.now(), **inputs)
    messages.success(request, done)
    return _back(release.version)


@require_safe
@member_view()
def file(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """The zip of the public release; before it is released leads get what is prepared."""
    release, member = _release(project, gold_set, number), member_of(request)
    return presenters.public_zip_response(release, member, at=timezone.now())


def _released(project: Project, gold_set: str, number: int) -> Version:
    version = versions.version_in(project, gold_set, number)
    if version.released_at is None:
        raise Http404("Only a released version goes out.")
    return version


def _built_release(project: Project, gold_set: str, number: int) -> PublicRelease:
    return presenters.built_release_of(versions.version_in(project, gold_set, number))


def _release(project: Project, gold_set: str, number: int) -> PublicRelease:
    return presenters.public_release_of(versions.version_in(project, gold_set, number))


def _back(version: Version) -> HttpResponse:
    gold_set = version.gold_set
    return redirect(reverse("goldsets:public", args=[gold_set.project.slug, gold_set.slug, version.number]))
