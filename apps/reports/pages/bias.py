"""Pages of bias reports: which systems the grades favour, and what to judge first."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.drawing.charts import Scale, clip, figures, svg, tag, title
from apps.common.text.wording import number, percent, signed
from apps.evaluation.presenters.score_charts import CELL_HEIGHT, CELL_WIDTH, Bounds, bounds_of, head_cell
from apps.evaluation.presenters.score_tables import Named, block_names
from apps.evaluation.selectors.rankings import UNJUDGED_AT
from apps.goldsets.access import open_test
from apps.goldsets.enums import Split
from apps.reports.actions import choose_first
from apps.reports.core import bias
from apps.reports.core.bias import LeftOutSystem, RankMove, SystemMeans
from apps.reports.forms import BiasForm, FirstForm
from apps.reports.models import BiasReport
from apps.reports.pages.analyses import ReportPages, ReportSheet, progress_page, report_page
from apps.reports.selectors.analyses import report_in, visible_report

FIRST_SHOWN = 10
USUAL_FIRST = 50


class Unjudged(NamedTuple):
    """The share of a run's first results that nobody judged, one for each depth."""

    tag: str
    name: str
    shares: list[float | None]
    drawing: SafeString


class Neighbours(NamedTuple):
    better: str
    worse: str
    gap: float
    is_settled: bool


class FirstRow(NamedTuple):
    """A block to judge first."""

    query: str
    text: str
    block: Named
    swing: float


class BiasSheet(ReportSheet[BiasReport]):
    """The content of the page."""

    @cached_property
    def names(self) -> dict[int, str]:
        """The systems of each family, by its key."""
        return {out.system: out.name for out in self.left_out}

    @cached_property
    def system_means(self) -> list[SystemMeans]:
        rows = self.report.result["runs"]
        return [SystemMeans(row["tag"], row["system"], row["means"], row.get("changes", ())) for row in rows]

    @cached_property
    def left_out(self) -> list[LeftOutSystem]:
        return [LeftOutSystem(**row) for row in self.report.result["left_out"]]

    @cached_property
    def moves(self) -> list[RankMove]:
        """Every run with its own family left out, in the order of the measure."""
        moves = bias.moves(self.system_means, self.left_out, self.measure_place)
        return sorted(moves, key=lambda move: (move.rank_before, move.tag))

    @property
    def verdict(self) -> str:
        return bias.verdict(self.moves, self.measure)

    @cached_property
    def bounds(self) -> Bounds:
        return bounds_of([end for move in self.moves for end in (move.before, move.after) if end is not None])

    @property
    def head(self) -> SafeString:
        return head_cell(self.bounds)

    @property
    def drawn(self) -> list[tuple[RankMove, SafeString]]:
        return [(move, move_cell(move, self.bounds.place)) for move in self.moves]

    @property
    def figures(self) -> SafeString:
        """The change of every run with each system left out."""
        place = self.measure_place
        rows = []
        for out in self.left_out:
            changes = [
                signed((row[place] or 0.0) - (run.means[place] or 0.0))
                for run, row in zip(self.system_means, out.means, strict=True)
            ]
            rows.append([out.name, *changes])
        return figures(["Left out", *(run.tag for run in self.system_means)], rows)

    @property
    def unjudged(self) -> list[Unjudged]:
        """Runs with the most unjudged results at the middle depth first."""
        rows = self.report.result["runs"]
        unjudged = [
            Unjudged(run["tag"], self.names[run["system"]], run["unjudged"], share_cell(run["tag"], run["unjudged"][1]))
            for run in rows
        ]
        return sorted(unjudged, key=lambda row: (-(row.shares[1] or 0.0), row.tag))

    @property
    def depths(self) -> Sequence[int]:
        return UNJUDGED_AT

    @property
    def first(self) -> dict[str, Any]:
        return self.report.result["first"]

    @property
    def neighbours(self) -> list[Neighbours]:
        return [Neighbours(*row) for row in self.first["neighbours"]]

    @cached_property
    def first_rows(self) -> list[FirstRow]:
        shown = self.first["pairs"][:FIRST_SHOWN]
        version = self.report.version
        blocks = block_names(version.snapshot, [position for _, position, _ in shown])
        texts = dict(
            version.queries.filter(outside_id__in=[query for query, _, _ in shown]).values_list("outside_id", "text")
        )
        return [FirstRow(query, texts[query], blocks[position], swing) for query, position, swing in shown]

    @property
    def usual_first(self) -> int:
        return min(USUAL_FIRST, len(self.first["pairs"]))


def move_cell(move: RankMove, place: Scale) -> SafeString:
    """A hollow dot for all judgements, a filled one without those of the run's own family, and a line between."""
    y = CELL_HEIGHT / 2
    before, after = place(move.before or 0.0), place(move.after or 0.0)
    words = f"{move.tag}: {number(move.before)} with all judgements, {number(move.after)} without its own"
    parts = [
        tag("path", class_="whisker", d=f"M{before:.1f} {y:.1f}H{after:.1f}"),
        tag("circle", class_="open", cx=before, cy=y, r=4.0),
        tag("circle", class_="point", cx=after, cy=y, r=4.0),
    ]
    return svg(CELL_WIDTH, CELL_HEIGHT, words, parts)


def share_cell(name: str, share: float | None) -> SafeString:
    """A bar from 0 to the share, on a track from 0 to 1."""
    wide, high, top = 160.0, 10.0, (CELL_HEIGHT - 10.0) / 2
    words = f"{clip(name, 40)}: {percent(share, 0)} unjudged at {UNJUDGED_AT[1]}"
    parts = [tag("rect", class_="track", x=0.0, y=top, width=wide, height=high)]
    if share:
        parts.append(tag("rect", title(words), class_="bar-fill", x=0.0, y=top, width=wide * share, height=high))
    return svg(wide, CELL_HEIGHT, words, parts)


PAGES = ReportPages("bias", "Bias", BiasReport, BiasForm)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def bias_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One report. Leads also see what to judge first; if that shows blocks of the test split, the look is logged."""
    member = member_of(request)
    report = visible_report(BiasReport, member, pk)
    if not report.is_computed:
        return progress_page(request, PAGES, report)
    sheet = BiasSheet(report, request.GET.get("measure", ""))
    if member.is_lead and sheet.first_rows and report.split != Split.DEV:
        open_test(report.version, member, "what to judge first")
    form = FirstForm(initial={"most": sheet.usual_first}) if member.is_lead else None
    return report_page(request, PAGES, sheet, form=form)


@require_POST
@member_view(Role.LEAD)
def judge_first(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Make a pool of what could change the order most, and redirect to the plan of its round."""
    form = FirstForm(request.POST)
    pool = choose_first(
        report=report_in(BiasReport, project, pk),
        most=form.cleaned_data["most"] if form.is_valid() else 0,
        actor=user_of(request),
        at=timezone.now(),
    )
    return redirect(reverse("judging:new-round", args=[project.slug], query={"pool": pool.pk}))
