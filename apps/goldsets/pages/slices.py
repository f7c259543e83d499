"""Pages of one slice: its questions, and how it is drawn and grows. How much it can tell is shown beside the scores."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.text.wording import plural
from apps.goldsets import rules
from apps.goldsets.actions import slices as actions
from apps.goldsets.actions.slices import SliceRefused, add_to_slice, make_rotating_slice
from apps.goldsets.enums import GROWING, SliceKind
from apps.goldsets.forms import DrawForm, PickForm
from apps.goldsets.models import Version
from apps.goldsets.selectors import slices, versions

PER_PAGE = 100
ABOUT = {
    SliceKind.ROTATING: "This quarter’s sample, for the weekly gate.",
    SliceKind.CHALLENGE: "From disputes, drops and misses.",
    SliceKind.REGRESSION: "Fell once, must not fall again.",
    SliceKind.CANARY: "Picked by hand, for every change.",
}


@require_safe
@member_view()
def slice_page(request: HttpRequest, project: Project, gold_set: str, number: int, part: str) -> HttpResponse:
    """The questions of a slice in the order in which they came into it."""
    version = versions.seen_by(member_of(request), versions.version_in(project, gold_set, number))
    found = slices.slice_in(version, part)
    texts = {question.name: question for question in slices.questions_for_slices(version)}
    members = {row.name: row for row in slices.members_of(found).select_related("added_by")}
    context = {
        "version": version,
        "slice": found,
        "about": ABOUT[SliceKind(found.kind)],
        "page": Paginator([(row, texts[name]) for name, row in members.items()], PER_PAGE).get_page(
            request.GET.get("page")
        ),
        "blind_refusal": rules.blind_refusal(member_of(request)),
        "others": [one for one in slices.slices_of(version) if one.pk != found.pk],
        "grows": found.kind in GROWING,
    }
    return render(request, "goldsets/slice.html", context)


@member_view(Role.LEAD)
@require_POST
def draw(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    version = versions.version_in(project, gold_set, number)
    form = DrawForm(request.POST)
    if not form.is_valid():
        raise SliceRefused(f"Questions: {form.errors['size'][0]}", code="slice_refused")
    made = make_rotating_slice(
        version_id=version.pk, actor=user_of(request), at=timezone.now(), size=form.cleaned_data["size"]
    )
    messages.success(request, f"{made.words} is drawn and stays as it is.")
    return redirect("goldsets:slice", project.slug, gold_set, number, made.name)


@member_view(Role.LEAD)
@require_http_methods(["GET", "HEAD", "POST"])
def pick(request: HttpRequest, project: Project, gold_set: str, number: int, part: str) -> HttpResponse:
    """Choose questions for a slice from a list with search."""
    version = _frozen(project, gold_set, number, part)
    existing = slices.slice_named(version, part)
    questions = slices.offered_for(version, existing)
    form = PickForm(request.POST or None, questions=[one.name for one in questions])
    if request.method == "POST" and form.is_valid():
        names = dict.fromkeys(form.cleaned_data["names"], form.cleaned_data["why"].strip())
        _, added = add_to_slice(
            version_id=version.pk, kind=part, names=names, actor=user_of(request), at=timezone.now()
        )
        messages.success(request, _added(added, part))
        return redirect("goldsets:slice", project.slug, gold_set, number, part)
    words = request.GET.get("find", "").strip()
    context = {
        "version": version,
        "part": part,
        "kind": SliceKind(part).label,
        "about": ABOUT[SliceKind(part)],
        "form": form,
        "find": words,
        "taken": existing.questions if existing else 0,
        "page": Paginator(slices.matching(questions, words), PER_PAGE).get_page(request.GET.get("page")),
        "chosen": form["names"].value() or [],
    }
    return render(request, "goldsets/pick_questions.html", context, status=400 if form.errors else 200)


@member_view(Role.LEAD)
@require_POST
def add_found(request: HttpRequest, project: Project, gold_set: str, number: int, part: str) -> HttpResponse:
    """Add what was found for a slice: disputes, drops and misses, and what the version before had in it."""
    version = _frozen(project, gold_set, number, part)
    made, added = actions.add_found(version_id=version.pk, kind=part, actor=user_of(request), at=timezone.now())
    messages.success(request, _added(added, part))
    if made is None:
        return redirect("goldsets:pick-questions", project.slug, gold_set, number, part)
    return redirect("goldsets:slice", project.slug, gold_set, number, made.name)


def _frozen(project: Project, gold_set: str, number: int, part: str) -> Version:
    version = versions.version_in(project, gold_set, number)
    if part not in GROWING:
        raise Http404("No such slice.")
    if reason := rules.slicing_refusal(version):
        raise SliceRefused(reason, code="slice_refused")
    return version


def _added(number: int, part: str) -> str:
    if not number:
        return f"Nothing new was found for {part}. Questions can be picked by hand."
    return f"{plural(number, 'question')} added to {part}."
