"""The page of a new edition: what changes, what it touches, and taking it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.text.wording import plural
from apps.common.web.forms import KaratForm
from apps.common.web.requests import key_in
from apps.corpus.models import BlockVersion
from apps.corpus.selectors.corpora import import_in, snapshot_and_before, snapshot_in, version_in
from apps.editions import rules
from apps.editions.actions import apply
from apps.editions.actions.apply import run_again
from apps.editions.core.comparison import PassageChange
from apps.editions.enums import ChangeKind, Choice
from apps.editions.execution.apply import EditionRefused, TakeOrder, planned_edition, snapshot_before_import
from apps.editions.presenters import EditionSheet
from apps.editions.selectors.applied import TakenEdition
from apps.editions.selectors.decisions import ChangedPassage, Work, choices_of, work_of
from apps.editions.selectors.editions import Edition, between
from apps.judging.models import Round
from apps.queries.models import Query
from apps.retrieval.models import Pool
from apps.triples.models import Triple

DECISION = "passage-"
MOST_DIGITS = 18


class DecisionForm(KaratForm):
    """What happens to the grades of one old text, by its block version, when it becomes the new one."""

    version = forms.IntegerField(min_value=1, max_value=10**MOST_DIGITS)
    text = forms.RegexField(r"^[0-9a-f]{64}$")
    choice = forms.ChoiceField(choices=Choice.choices)


class TakeForm(KaratForm):
    """What a lead decided about changed passages: a field `passage-<block>` for each that the page showed."""

    shown = forms.CharField(max_length=64)
    rest = forms.ChoiceField(choices=[("", ""), *Choice.choices], required=False)
    later = forms.BooleanField(required=False)

    def decided(self) -> dict[int, Choice]:
        """The choices by block; fields that name no block or no choice are left out."""
        fields = ((name.removeprefix(DECISION), self.data[name]) for name in self.data if name.startswith(DECISION))
        return {
            int(block): Choice(word) for block, word in fields if key_in(block) is not None and word in Choice.values
        }


SHOWN = 30
MOST_SHOWN = 600
PAGE_SIZE = 50
LISTS = ("passages", "grades", "triples")


def edition_context(edition: Edition, query: Mapping[str, str]) -> dict[str, Any]:
    """All of the page. `query` are the parameters of its URL: which list is open, how many changes are shown."""
    sheet = EditionSheet.of(edition)
    rest = Choice.CARRY if query.get("all") == Choice.CARRY else None
    shown = sheet.ranked[: _shown(query)]
    compared = list(dict.fromkeys([*sheet.weighty, *shown]))
    edition.read(compared, edition.of(ChangeKind.NEW))
    passages = sheet.passages(compared)
    choices = choices_of(passages, {}, rest)
    shown_passages = passages_in_order(passages, shown)
    decided = [(passage, choices[passage.old.pk] == Choice.CARRY) for passage in shown_passages]
    work = work_of(edition, sheet.usage, choices)
    rows = sheet.rows
    taken = sheet.asked.get("taken")
    return {
        "edition": edition,
        "rows": rows,
        "changes": [one for one in decided if one[0].grades or one[0].triples],
        "untouched": [one for one in decided if not (one[0].grades or one[0].triples)],
        "changes_shown": len(decided),
        "any_decided": any(passage.decided for passage in passages),
        "changes_total": len(sheet.ranked),
        "changed": next(row for row in rows if row.kind == ChangeKind.CHANGED),
        "next_shown": _shown(query) + SHOWN,
        "rest": rest,
        "work": work,
        "stays": sheet.asked["stays"],
        "versions": [each.version for each in sheet.dependents if each.kinds],
        "drafts": sheet.drafts,
        "list": _open_list(sheet, query),
        **_round(sheet, work),
        "taken": taken,
        "to_run": sheet.asked.get("to_run"),
        **_made(taken, sheet.rounds),
    }


def _made(taken: TakenEdition | None, rounds: Iterable[Round]) -> dict[str, Any]:
    """What came of an edition that was taken: the rounds, which are among those of the corpus, and the pool."""
    if taken is None:
        return {}
    by_key: dict[int | None, Round] = {round_.pk: round_ for round_ in rounds}
    made = by_key.get(taken.after["round"])
    return {
        "made_round": made,
        "made_pool": made.pool if made else Pool.objects.filter(pk=taken.after["pool"]).first(),
        "carried_round": by_key.get(taken.after["carried_round"]),
    }


def passages_in_order(passages: Sequence[ChangedPassage], shown: Sequence[PassageChange]) -> list[ChangedPassage]:
    by_name = {passage.change.name: passage for passage in passages}
    return [by_name[change.name] for change in shown]


def _shown(query: Mapping[str, str]) -> int:
    wanted = query.get("changes", "")
    return min(int(wanted), MOST_SHOWN) if wanted.isdecimal() and len(wanted) < 6 else SHOWN


def _round(sheet: EditionSheet, work: Work) -> dict[str, Any]:
    planned = sheet.round_for(work)
    return {
        "former_round": planned.former,
        "people": planned.people,
        "round_refusal": planned.refusal,
        "time": planned.time_per_pair.of(len(work.to_judge)),
        "time_per_pair": planned.time_per_pair,
    }


def _open_list(sheet: EditionSheet, query: Mapping[str, str]) -> dict[str, Any] | None:
    """The list behind a count: the kind and what of it, with one page of its rows."""
    kind, of = query.get("show", ""), query.get("of", "passages")
    if kind not in ChangeKind.values or of not in LISTS:
        return None
    chosen = ChangeKind(kind)
    build = {"passages": _passages, "grades": _pairs, "triples": _triples}[of]
    page, rows = build(sheet, chosen, query.get("page", ""))
    return {"kind": chosen, "of": of, "page": page, "rows": rows}


def _passages(sheet: EditionSheet, kind: ChangeKind, number: str) -> tuple[Any, list[Any]]:
    page: Any = Paginator(sheet.of_kind(kind), PAGE_SIZE).get_page(number)
    return page, sheet.listed(page)


def _pairs(sheet: EditionSheet, kind: ChangeKind, number: str) -> tuple[Any, list[dict[str, Any]]]:
    """Judged pairs by query and passage, without their grades: whoever still judges may see this."""
    grades = sheet.usage.grades
    versions = {version for version in grades if sheet.edition.kind_of(version) == kind}
    names = BlockVersion.objects.filter(pk__in=versions).values_list("block__outside_id", "pk", "block_id")
    pairs = sorted((query, *found) for found in names for query in grades[found[1]])
    page = Paginator(pairs, PAGE_SIZE).get_page(number)
    queries = Query.objects.in_bulk({query for query, *_ in page})
    rows = [{"query": queries[query], "name": name, "block_id": block} for query, name, _, block in page]
    return page, rows


def _triples(sheet: EditionSheet, kind: ChangeKind, number: str) -> tuple[Any, list[Triple]]:
    found = {pk for version, own in sheet.usage.triples.items() if sheet.edition.kind_of(version) == kind for pk in own}
    page = Paginator(sorted(found), PAGE_SIZE).get_page(number)
    triples = Triple.objects.select_related("current").in_bulk(list(page))
    return page, [triples[pk] for pk in page]


@require_safe
@member_view(Role.LEAD)
def import_edition(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The edition that an import in its preview would make."""
    item = import_in(project, pk)
    item.project = project
    before = snapshot_before_import(item)
    context = {
        "item": item,
        "snapshot": None,
        "taken": None,
        "refusal": rules.import_refusal(item, before),
    }
    if before is not None and not context["refusal"]:
        context |= edition_context(planned_edition(item, before), request.GET.dict())
    return render(request, "editions/edition.html", context)


@require_safe
@member_view(Role.LEAD)
def snapshot_edition(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The edition that a snapshot is beside the one before it; once taken, what came of it."""
    snapshot, before = snapshot_and_before(project, pk)
    snapshot.corpus.project = project
    context: dict[str, Any] = {"item": None, "snapshot": snapshot, "taken": None, "refusal": None}
    if before is None:
        context["refusal"] = rules.take_refusal(None, None)
    else:
        context |= edition_context(between(before, snapshot), request.GET.dict())
    return render(request, "editions/edition.html", context)


@require_POST
@member_view(Role.LEAD)
def decide(request: HttpRequest, project: Project) -> HttpResponse:
    """Keep one choice, sent by the page as soon as it is made."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return HttpResponse("Load the page again, then decide.", status=400, content_type="text/plain")
    version = version_in(project, form.cleaned_data["version"])
    choices = {(version.pk, form.cleaned_data["text"]): Choice(form.cleaned_data["choice"])}
    apply.decide(choices=choices, actor=user_of(request), at=timezone.now())
    return HttpResponse(status=204)


@require_POST
@member_view(Role.LEAD)
def take_import(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    requested = apply.take_imported(import_id=item.pk, order=_order(request), actor=user_of(request), at=timezone.now())
    if requested.taken is None:
        return redirect("corpus:import", slug=project.slug, pk=item.pk)
    return redirect("editions:snapshot", slug=project.slug, pk=requested.taken.snapshot.pk)


@require_POST
@member_view(Role.LEAD)
def take_snapshot(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    snapshot = snapshot_in(project, pk)
    requested = apply.take_snapshot(
        snapshot_id=snapshot.pk, order=_order(request), actor=user_of(request), at=timezone.now()
    )
    if requested.job is not None:
        return redirect("jobs:job", slug=project.slug, pk=requested.job.pk)
    return redirect("editions:snapshot", slug=project.slug, pk=snapshot.pk)


@require_POST
@member_view(Role.LEAD)
def run_systems(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    snapshot = snapshot_in(project, pk)
    runs = run_again(snapshot_id=snapshot.pk, actor=user_of(request), at=timezone.now())
    started = plural(len(runs), "run has", "runs have")
    messages.success(request, f"{started} started on {snapshot.name}. A version on it is scored when it is released.")
    return redirect("editions:snapshot", slug=project.slug, pk=snapshot.pk)


def _order(request: HttpRequest) -> TakeOrder:
    form = TakeForm(request.POST)
    if not form.is_valid():
        raise EditionRefused("The page was not complete. Load it again, then take the edition.", code="bad_order")
    rest = form.cleaned_data["rest"]
    return TakeOrder(
        form.decided(),
        rest=Choice(rest) if rest else None,
        with_round=not form.cleaned_data["later"],
        shown=form.cleaned_data["shown"],
    )
