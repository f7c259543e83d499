"""The pages of pools, with the chart of their sizes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.forms import ModelMultipleChoiceField
from django.http import Http404, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.drawing import charts
from apps.common.errors import Forbidden, Refusal
from apps.common.text.wording import plural
from apps.common.web.forms import refusals_shown
from apps.common.web.requests import key_in
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import freezable_in, snapshots_in
from apps.queries.models import Query
from apps.retrieval import rules
from apps.retrieval.actions.pools import grow_pool, request_missing, request_pool
from apps.retrieval.core.sampling import BoundedFigure, plan_of
from apps.retrieval.enums import ADAPTIVE, PoolKind, PoolMethod
from apps.retrieval.execution.budgets import forecast_pairs
from apps.retrieval.forms.pools import GrowForm, PoolForm
from apps.retrieval.models import Pool, Run
from apps.retrieval.presenters import sheet_response
from apps.retrieval.selectors.blinding import has_pairs_to_judge, hidden_queries
from apps.retrieval.selectors.pools import (
    MissingEstimate,
    effort_words,
    entries_of,
    estimate_pool,
    is_withdrawn,
    missing_estimate,
    missing_job,
    pool_in,
    pool_runs,
    proposed_sources,
    queries_without_pairs,
    run_shares,
)
from apps.retrieval.selectors.question_sets import judged_in

MOST_BARS = 12
WIDTH, HEIGHT = 648, 190
LEFT, RIGHT, TOP, BASE = 40, 640, 16, 150
SNAPSHOTS_OFFERED = 8
MOST_NAMED = 10


class Bin(NamedTuple):
    """The queries with `low` to `high` pairs, both included."""

    low: int
    high: int
    queries: int

    @property
    def label(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def bins(sizes: Sequence[int]) -> list[Bin]:
    """Queries by their number of pairs, in at most 12 bins of equal width; `sizes[n]` is the number with n pairs."""
    filled = [size for size, queries in enumerate(sizes) if queries]
    if not filled:
        return []
    low, high = filled[0], filled[-1]
    width = -(-(high - low + 1) // MOST_BARS)
    edges = range(low, high + 1, width)
    return [Bin(edge, edge + width - 1, sum(sizes[edge : edge + width])) for edge in edges]


def sizes_chart(sizes: Sequence[int]) -> SafeString:
    """A bar chart of the pairs per query, with its table; empty without queries."""
    bars = bins(sizes)
    if not bars:
        return mark_safe("")
    most = max(bar.queries for bar in bars)
    height = charts.scale(0, most, 0, BASE - TOP)
    step = (RIGHT - LEFT) / len(bars)
    parts = [charts.tag("path", class_="axis", d=f"M{LEFT} {BASE}H{RIGHT}")]
    for at, bar in enumerate(bars):
        middle, tall = LEFT + (at + 0.5) * step, height(bar.queries)
        wide = min(step - 8, 44)
        name = charts.title(f"{bar.label} pairs: {bar.queries:,} queries")
        parts.append(
            charts.tag("rect", name, class_="bar-fill", x=middle - wide / 2, y=BASE - tall, width=wide, height=tall)
        )
        if bar.queries:
            parts.append(charts.text(middle, BASE - tall - 5, f"{bar.queries:,}", anchor="middle", class_="strong"))
        parts.append(charts.text(middle, BASE + 17, bar.label, anchor="middle"))
    parts.append(charts.text((LEFT + RIGHT) / 2, BASE + 36, "pairs per query", anchor="middle", class_="word"))
    parts.append(charts.text(0, TOP - 4, "queries", class_="word"))
    drawn = charts.plot(charts.svg(WIDTH, HEIGHT, "Queries by their number of pairs", parts))
    rows = [(bar.label, f"{bar.queries:,}") for bar in bars]
    return mark_safe(drawn + charts.figures(("Pairs per query", "Queries"), rows))


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_pool(request: MemberRequest, project: Project) -> HttpResponse:
    snapshots = list(snapshots_in(project)[:SNAPSHOTS_OFFERED])
    snapshot = _chosen_snapshot(project, request.POST.get("snapshot") or request.GET.get("snapshot", ""))
    snapshot = snapshot or (snapshots[0] if snapshots else None)
    start = {"name": _free_name(project), **_proposed(project, snapshot), **_filled_in(request.GET)}
    form = PoolForm(_with_sample(request.POST) or None, project=project, snapshot=snapshot, initial=start)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        with refusals_shown(form):
            pool = request_pool(
                project=project,
                name=values["name"],
                snapshot_id=values["snapshot"].pk,
                system_ids=[system.pk for system in values["systems"]],
                run_ids=[run.pk for run in values["runs"]],
                with_built_in=values.get("built_in", False),
                depth=values["depth"],
                plan=form.plan,
                choice=form.choice,
                actor=request.user,
                at=timezone.now(),
            )
            return redirect("retrieval:pool", slug=project.slug, pk=pool.pk)
    context: dict[str, Any] = {"form": form, "snapshot": snapshot, "snapshots": snapshots}
    if snapshot is None:
        context["freezable"] = freezable_in(project)
    return render(request, "retrieval/new_pool.html", context, status=400 if form.errors else 200)


def _with_sample(data: QueryDict) -> QueryDict:
    """What was sent; by the button that builds a sample of so many pairs, with that budget."""
    if "sample" not in data:
        return data
    changed = data.copy()
    changed["method"], changed["pairs"], changed["each"] = PoolMethod.SAMPLE.value, str(data["sample"]), "all"
    return changed


def _proposed(project: Project, snapshot: Snapshot | None) -> dict[str, Any]:
    """What is ticked at first. Where there is nothing to choose from, the systems that are built in."""
    if snapshot is None:
        return {}
    proposal = proposed_sources(project, snapshot)
    return {**proposal._asdict(), "built_in": not any(proposal)}


def _filled_in(data: QueryDict) -> dict[str, Any]:
    """The values for fields of the pool form, unchecked: a list for those that take several."""
    fields = PoolForm.base_fields
    several = {name for name, field in fields.items() if isinstance(field, ModelMultipleChoiceField)}
    return {name: data.getlist(name) if name in several else data[name] for name in fields if name in data}


@require_safe
@member_view(Role.LEAD)
def estimate(request: MemberRequest, project: Project) -> HttpResponse:
    """The forecast beside the form of a new pool: how many pairs it can have at most.

    Of a random sample without a budget yet that of all results, which says what budget the precision needs.
    """
    snapshot = _chosen_snapshot(project, request.GET.get("snapshot", ""))
    data = request.GET.copy()
    if data.get("method") == PoolMethod.SAMPLE and data.get("pairs", "") in {"", "0"}:
        data["method"] = PoolMethod.DEPTH.value
    form = PoolForm(data, project=project, snapshot=snapshot)
    context: dict[str, Any] = {"form": form, "estimate": None}
    if form.is_valid() and snapshot is not None:
        values = form.cleaned_data
        query_ids = list(judged_in(project, form.choice).values_list("pk", flat=True))
        sources = len(form.sources) + len(values["runs"])
        blocks = snapshot.block_count
        context["refusal"] = rules.plan_refusal(form.plan, len(query_ids), sources, values["depth"], blocks)
        if (sources or form.plan.takes_every) and not context["refusal"]:
            chosen = list(values["runs"])
            size = estimate_pool(snapshot, form.sources, chosen, values["depth"], query_ids, form.plan)
            context["estimate"] = size
            context["takes_every"] = form.plan.takes_every
            context["effort"] = next((words(project, size.at_most) for words in effort_words), "")
            if values["half_width"] and sources and not form.plan.takes_every:
                union = estimate_pool(snapshot, form.sources, chosen, values["depth"], query_ids)
                context["pairs"] = forecast_pairs(
                    snapshot,
                    [*chosen, *union.reused],
                    query_ids,
                    values["depth"],
                    half_width=values["half_width"],
                    at_most=union.at_most,
                    to_run=len(union.to_run),
                    sees_grades=not hidden_queries(request.user, snapshot, query_ids),
                )
    return render(request, "retrieval/_estimate.html", context)


@require_safe
@member_view()
def pool(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """A pool: its progress, its pairs per query, and for leads and viewers the overlap of its runs."""
    shown = pool_in(project, pk)
    member = request.member
    context = {
        "pool": shown,
        "is_withdrawn": is_withdrawn(shown),
        "summary": shown.summary,
        "unpaired": queries_without_pairs(shown, MOST_NAMED) if shown.summary.get("without") else [],
        "sizes": sizes_chart(shown.summary.get("sizes", [])),
        "grow_refusal": rules.grow_refusal(shown),
        "provenance_refusal": rules.provenance_refusal(member.roles, has_pairs_to_judge(request.user, shown)),
        "how": _how(shown),
        "is_sample": plan_of(shown.plan).method == PoolMethod.SAMPLE,
        "shares": run_shares(shown) if member.holds(Role.LEAD, Role.VIEWER) else [],
        "shows_missing": member.holds(Role.LEAD, Role.VIEWER) and shown.kind == PoolKind.DEPTH,
        "missing_refusal": rules.missing_refusal(shown),
        "missing_job": missing_job(shown),
        "missed": _missed(shown),
    }
    return render(request, "retrieval/pool.html", context)


@require_POST
@member_view(Role.LEAD)
def missing(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Queue an estimate of what the pool misses, from the current grades."""
    request_missing(project=project, pool_id=pk, actor=request.user, at=timezone.now())
    return redirect("retrieval:pool", slug=project.slug, pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def grow(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    shown = pool_in(project, pk)
    if reason := rules.grow_refusal(shown):
        raise Refusal(reason, code="pool_cannot_grow")
    form = GrowForm(request.POST or None, pool=shown)
    if request.method == "POST" and form.is_valid():
        with refusals_shown(form):
            grow_pool(
                project=project,
                pool_id=shown.pk,
                system_ids=[system.pk for system in form.cleaned_data["systems"]],
                run_ids=[run.pk for run in form.cleaned_data["runs"]],
                depth=form.cleaned_data["depth"],
                more=form.more,
                actor=request.user,
                at=timezone.now(),
            )
            return redirect("retrieval:pool", slug=project.slug, pk=shown.pk)
    context = {"pool": shown, "form": form, "is_adaptive": plan_of(shown.plan).method in ADAPTIVE}
    return render(request, "retrieval/grow_pool.html", context, status=400 if form.errors else 200)


@require_safe
@member_view(Role.LEAD)
def sheet(request: MemberRequest, project: Project, pk: int) -> StreamingHttpResponse:
    """The pairs for somebody who grades in a spreadsheet; with `?chosen=yes` also how each was chosen."""
    says_chosen = request.GET.get("chosen") == "yes"
    return sheet_response(request.member, pool_in(project, pk), says_chosen=says_chosen)


@require_safe
@member_view(Role.LEAD)
def provenance(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Which runs found each pair of one query, and at which rank."""
    shown = pool_in(project, pk)
    roles = request.member.roles
    if reason := rules.provenance_refusal(roles, has_pairs_to_judge(request.user, shown)):
        raise Forbidden(reason, code="ranks_hidden")
    queries = list(Query.objects.filter(pk__in=shown.pool_queries.values("query")).order_by("outside_id", "pk"))
    if not queries:
        raise Http404("The pool covers no query.")
    wanted = request.GET.get("q", "")
    place = next((at for at, query in enumerate(queries) if query.outside_id == wanted), 0)
    if reason := hidden_queries(request.user, shown.snapshot, [queries[place].pk]).get(queries[place].pk):
        raise Forbidden(reason, code="ranks_hidden")
    runs = pool_runs(shown)
    context = {
        "pool": shown,
        "query": queries[place],
        "before": queries[place - 1] if place else None,
        "after": queries[place + 1] if place + 1 < len(queries) else None,
        "place": place + 1,
        "total": len(queries),
        "runs": runs,
        "rows": _provenance_rows(shown, queries[place], runs),
    }
    return render(request, "retrieval/provenance.html", context)


class PoolPair(NamedTuple):
    """One pair, and its rank in each run of the pool; None where the run did not bring it into the pool.

    `sampled` is the `how` of `PoolEntry.sampled`, "" for none.
    """

    block: Any
    version: Any
    ranks: list[int | None]
    sampled: str


def _provenance_rows(pool: Pool, query: Query, runs: list[Run]) -> list[PoolPair]:
    rows = []
    for entry in entries_of(pool, query.pk):
        ranks = dict(entry.found_by)
        sampled = (entry.sampled or {}).get("how", "")
        rows.append(PoolPair(entry.version.block, entry.version, [ranks.get(run.pk) for run in runs], sampled))
    return sorted(
        rows, key=lambda row: min((rank for rank in row.ranks if rank is not None), default=rules.DEEPEST + 1)
    )


def _how(pool: Any) -> str:
    """How the pairs were chosen, in words; empty for a pool of chosen pairs or imported judgements."""
    if pool.kind != PoolKind.DEPTH:
        return ""
    plan, runs, snapshot = plan_of(pool.plan), plural(pool.run_count, "run"), pool.snapshot.name
    if not plan.has_budget:
        return f"Every passage of {snapshot}" if plan.takes_every else f"The top {pool.depth:,} of {runs}"
    each = "per query" if plan.each else "in total"
    methods = {
        "rrf": "by fused rank",
        "move_to_front": "adaptive (move to front)",
        "bandit": "adaptive (bandit)",
        "sample": "sampled at random",
    }
    pairs = plural(plan.pairs, "pair")
    return f"A budget of {pairs} {each}, {methods[plan.method]}, from the top {pool.depth:,} of {runs}"


def _missed(pool: Pool) -> MissingEstimate | None:
    """The last estimate, with the recall in percent."""
    found = missing_estimate(pool)
    if found is None or found.share is None:
        return found
    return found._replace(share=BoundedFigure(*(part * 100 for part in found.share)))


def _chosen_snapshot(project: Project, pk: str) -> Snapshot | None:
    key = key_in(pk)
    return snapshots_in(project).filter(pk=key).first() if key is not None else None


def _free_name(project: Project) -> str:
    taken = set(Pool.objects.filter(project=project).values_list("name", flat=True))
    return next(name for number in range(1, 10**6) if (name := f"Pool {number}") not in taken)
