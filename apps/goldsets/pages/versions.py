"""Pages of gold sets, their versions, and the signing key of the project."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Forbidden
from apps.common.web.forms import refusals_shown
from apps.goldsets import rules
from apps.goldsets.access import log_names, names_told, open_test
from apps.goldsets.actions import versions as actions
from apps.goldsets.core.splits import kept_together, on_both_sides, split_words
from apps.goldsets.enums import Split
from apps.goldsets.forms import ChangelogForm, GoldSetForm, VersionForm
from apps.goldsets.models import Version
from apps.goldsets.pages.drafts import draft_facts, type_rows
from apps.goldsets.presenters import export_response, offered_forms, offered_runs, panels_of
from apps.goldsets.rules import without_grades
from apps.goldsets.selectors import diffs, versions
from apps.goldsets.selectors.assembly import former_of
from apps.goldsets.selectors.exclusions import losses_as_csv, losses_facts
from apps.goldsets.selectors.public import ended_versions, public_versions
from apps.goldsets.selectors.training import leaks_in
from apps.goldsets.selectors.versions import current_key, keys_of, version_now
from apps.querylogs.execution.fetching import last_server
from apps.querylogs.forms import TraceServerForm
from apps.review.core.elsewhere import sample_sentence

PER_PAGE = 100


@require_safe
@member_view()
def signing(request: HttpRequest, project: Project) -> HttpResponse:
    keys = keys_of(project)
    context = {
        "current": next((key for key in keys if key.ended_at is None), None),
        "earlier": [key for key in keys if key.ended_at is not None],
    }
    return render(request, "goldsets/signing.html", context)


@member_view(Role.LEAD)
@require_POST
def make_key(request: HttpRequest, project: Project) -> HttpResponse:
    key = actions.make_signing_key(project=project, actor=user_of(request), at=timezone.now())
    messages.success(request, f"Downloads are signed from now on, with the key {key.fingerprint}.")
    return redirect("goldsets:signing", slug=project.slug)


@require_safe
@member_view()
def version_list(request: HttpRequest, project: Project) -> HttpResponse:
    is_lead = member_of(request).is_lead
    sets = [
        (gold_set, [version for version in gold_set.versions.all() if is_lead or version.released_at])
        for gold_set in versions.gold_sets_of(project)
    ]
    out = public_versions(project)
    context = {
        "sets": sets,
        "is_blind": rules.blind_refusal(member_of(request)) is not None,
        "revoked": versions.resting_on_revoked(project, at=timezone.now()),
        "public": out,
        "due": versions.due_dates(project, [version for _, shown in sets for version in shown]),
        "ended": ended_versions(project, at=timezone.now()) if out else set(),
    }
    return render(request, "goldsets/list.html", context)


@member_view(Role.LEAD)
@require_http_methods(["GET", "HEAD", "POST"])
def new_gold_set(request: HttpRequest, project: Project) -> HttpResponse:
    form = GoldSetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        gold_set = actions.create_gold_set(
            project=project, actor=user_of(request), at=timezone.now(), **form.cleaned_data
        )
        return redirect("goldsets:new-version", slug=project.slug, gold_set=gold_set.slug)
    context = {"form": form}
    return render(request, "goldsets/new_gold_set.html", context, status=400 if form.errors else 200)


@member_view(Role.LEAD)
@require_http_methods(["GET", "HEAD", "POST"])
def new_version(request: HttpRequest, project: Project, gold_set: str) -> HttpResponse:
    parent = versions.gold_set_in(project, gold_set)
    form = VersionForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        version = actions.draft_version(gold_set_id=parent.pk, actor=user_of(request), at=timezone.now(), **form.inputs)
        return redirect(page_of(version))
    context = {"form": form, "gold_set": parent, "version": None}
    return render(request, "goldsets/version_form.html", context, status=400 if form.errors else 200)


@member_view(Role.LEAD)
@require_http_methods(["GET", "HEAD", "POST"])
def change_version(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = versions.version_in(project, gold_set, number)
    if reason := rules.change_refusal(version):
        raise actions.VersionRefused(reason, code="change_refused")
    form = VersionForm(request.POST or None, project=project, version=version)
    if request.method == "POST" and form.is_valid():
        actions.change_draft(version_id=version.pk, actor=user_of(request), at=timezone.now(), **form.inputs)
        return redirect(page_of(version))
    context = {"form": form, "gold_set": version.gold_set, "version": version}
    return render(request, "goldsets/version_form.html", context, status=400 if form.errors else 200)


@require_safe
@member_view()
def version_page(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = _visible(request, project, gold_set, number)
    if version.is_draft:
        facts = draft_facts(version, at=timezone.now())
        log_names(version, member_of(request), names_told(facts["content"]), "a draft that names them")
        return render(request, "goldsets/draft.html", facts)
    blind_refusal = rules.blind_refusal(member_of(request))
    manifest = without_grades(version.manifest) if blind_refusal else version.manifest
    now = version_now(version, at=timezone.now())
    context = {
        "version": version,
        "now": now,
        "is_ended": now.is_public and version.pk in ended_versions(project, at=timezone.now()),
        "manifest": manifest,
        "signing_key": current_key(version.gold_set.project),
        "forms": offered_forms(version, member_of(request), has_traces=now.has_traces),
        "runs": [] if blind_refusal else offered_runs(version, member_of(request)),
        "release_refusal": rules.release_refusal(version),
        "blind_refusal": blind_refusal,
        "splits": [(split, version.manifest["splits"][split]) for split in Split.values],
        "split_words": split_words(version.manifest["splits"]),
        "kept_together": kept_together(version.manifest["splits"]),
        "on_both_sides": on_both_sides(manifest["splits"]),
        "query_types": type_rows(manifest.get("query_types", {})),
        "waiting": now.waiting,
        "grades": sorted((int(grade), n) for grade, n in manifest["counts"].get("by_grade", {}).items()),
        "agreement": versions.agreement_of(version),
        "left_out": rules.counted_losses(version.manifest["left_out"]),
        "panels": panels_of(version),
        "sampled": [sample_sentence(one) for one in version.manifest.get("elsewhere", {}).get("sets", [])],
        "training_leaks": leaks_in(version, now.manifests, is_blind=blind_refusal is not None),
    }
    return render(request, "goldsets/version.html", context)


@member_view(Role.LEAD)
@require_POST
def freeze(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = versions.version_in(project, gold_set, number)
    form = ChangelogForm(request.POST)
    if not form.is_valid():
        raise actions.VersionRefused(f"Changelog: {form.errors['changelog'][0]}", code="bad_changelog")
    version = actions.freeze_version(
        version_id=version.pk, actor=user_of(request), at=timezone.now(), **form.cleaned_data
    )
    if stayed_out := rules.counted_losses(version.manifest["left_out"]):
        url = reverse("goldsets:left-out", args=[project.slug, gold_set, number])
        text = '{} is frozen and can no longer change. <a href="{}">{} left out</a>, each with its reason.'
        messages.warning(request, format_html(text, version.label, url, stayed_out))
    else:
        messages.success(request, f"{version.label} is frozen and can no longer change.")
    return redirect(page_of(version))


@member_view(Role.LEAD)
@require_POST
def release(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = versions.version_in(project, gold_set, number)
    version = actions.release_version(version_id=version.pk, actor=user_of(request), at=timezone.now())
    messages.success(request, f"{version.label} is released.")
    return redirect(page_of(version))


@member_view(Role.LEAD)
@require_POST
def discard(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = versions.version_in(project, gold_set, number)
    actions.discard_draft(version_id=version.pk, actor=user_of(request), at=timezone.now())
    messages.success(request, f"The draft of {version.label} is discarded.")
    return redirect("goldsets:list", slug=project.slug)


@require_safe
@member_view()
def items(request: HttpRequest, project: Project, gold_set: str, number: int, split: str, kind: str) -> HttpResponse:
    version = _visible(request, project, gold_set, number)
    if version.is_draft or split not in Split.values or kind not in ITEMS:
        raise Http404("No such items.")
    if split == Split.TEST:
        open_test(version, member_of(request), f"{kind} of test")
    rows = ITEMS[kind](version, split)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "version": version,
        "split": split,
        "splits": Split.values,
        "blind_refusal": rules.blind_refusal(member_of(request)),
        "kind": kind,
        "kinds": list(ITEMS),
        "page": page,
    }
    return render(request, "goldsets/items.html", context)


ITEMS = {"queries": versions.queries_of, "triples": versions.triples_of}


@require_safe
@member_view(Role.LEAD)
def documents(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """Which documents hold something relevant, and the largest of those that hold nothing."""
    version = versions.version_in(project, gold_set, number)
    if reason := rules.documents_refusal(version):
        raise actions.VersionRefused(reason, code="is_draft")
    context = {"version": version, "reach": versions.documents_held(version)}
    return render(request, "goldsets/documents.html", context)


@require_safe
@member_view(Role.LEAD)
def left_out(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """The judged pairs and queries that the version leaves out, by name; `format=csv` is the whole list as a file.

    For leads: the list names queries of the test split.
    """
    version = versions.version_in(project, gold_set, number)
    rows = versions.losses_of(version)
    log_names(version, member_of(request), (row.query_name for row in rows), "what is left out")
    if request.GET.get("format") == "csv":
        answer = HttpResponse(losses_as_csv(rows), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="{gold_set}-{version.label}-left-out.csv"'
        return answer
    context = {
        "version": version,
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "counted": rules.counted_losses(losses_facts(rows)),
    }
    return render(request, "goldsets/left_out.html", context)


@require_safe
@member_view()
def difference(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = _visible(request, project, gold_set, number)
    if reason := rules.blind_refusal(member_of(request)):
        raise Forbidden(reason, code="still_judging")
    former = None if version.is_draft else former_of(version)
    if former is None:
        raise Http404("There is no earlier version to compare with.")
    split = Split.TEST if request.GET.get("split") == Split.TEST else Split.DEV
    if split == Split.TEST:
        open_test(version, member_of(request), "difference in test")
    diff = diffs.diff(former, version, splits=[split])
    context = {
        "version": version,
        "former": former,
        "split": split,
        "splits": Split.values,
        "split_before": split_words(former.manifest["splits"]),
        "split_after": split_words(version.manifest["splits"]),
        "changes": _changes(diff),
        "repinned": diffs.with_texts(diff.repinned[:SHOWN_REPINNED]),
        "repinned_total": len(diff.repinned),
    }
    return render(request, "goldsets/difference.html", context)


SHOWN_CHANGES = 200
SHOWN_REPINNED = 50


def _changes(diff: diffs.Diff) -> list[tuple[str, list[diffs.ItemChange], int]]:
    """Kind in words, the changes shown, and their total."""
    kinds = {
        "Added": diff.added,
        "Removed": diff.removed,
        "Re-graded": diff.regraded,
        "Reworded": diff.reworded,
        "Other evidence": diff.remarked,
        "Metadata changed": diff.redescribed,
    }
    return [(words, changes[:SHOWN_CHANGES], len(changes)) for words, changes in kinds.items()]


@require_safe
@member_view()
def export(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    answer = export_response(
        _visible(request, project, gold_set, number),
        member=member_of(request),
        form=request.GET.get("format", "all"),
        split=request.GET.get("split", ""),
        runs=request.GET.getlist("run"),
        with_slices=request.GET.get("slices") == "yes",
    )
    return cast(HttpResponse, answer)  # a streamed answer is one in all but its class


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def send_grades(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """Send the grades of dev to the traces that its queries are from, in a job."""
    version, member = versions.version_in(project, gold_set, number), member_of(request)
    refusal = rules.sending_refusal(version, has_traces=versions.traced_in(version).exists())
    form = TraceServerForm(request.POST or None, project=project, initial=last_server(project))
    if request.method == "POST" and form.is_valid():
        answers = rules.answers_refusal(member, version) is None
        with refusals_shown(form):
            job = actions.request_sending(
                version=version, answers=answers, **form.cleaned_data, actor=member.user, at=timezone.now()
            )
            return redirect("jobs:job", slug=project.slug, pk=job.pk)
    context = {"version": version, "form": form, "refusal": refusal}
    return render(request, "goldsets/send_grades.html", context, status=400 if form.errors else 200)


def page_of(version: Version) -> str:
    gold_set = version.gold_set
    ids = {"slug": gold_set.project.slug, "gold_set": gold_set.slug, "number": version.number}
    return reverse("goldsets:version", kwargs=ids)


def _visible(request: HttpRequest, project: Project, gold_set: str, number: int) -> Version:
    return versions.seen_by(member_of(request), versions.version_in(project, gold_set, number))
