"""Pages of stability reports: is the order of the runs the same under each person's grades?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.agreement.selectors.agreement import names_for
from apps.common.drawing.charts import DrawnEstimate, Scale, figures, svg, tag, title, whisker
from apps.common.text.wording import interval, number
from apps.evaluation.core.charts import Bounds, bounds_of
from apps.evaluation.presenters.score_charts import CELL_HEIGHT, CELL_WIDTH, estimate_cell, head_cell
from apps.reports.core import stability
from apps.reports.core.bias import ranks
from apps.reports.core.stability import HIGHER, LOWER, PERSON, Interval, Order, PersonOrder, Swap, order_from
from apps.reports.forms import StabilityForm
from apps.reports.models import StabilityReport
from apps.reports.pages.analyses import ReportPages, ReportSheet, progress_page, report_page
from apps.reports.selectors.analyses import visible_report

TAU_BOUNDS = Bounds(-1.0, 1.0)
ENDS = {HIGHER: "the higher grades of {} and {}", LOWER: "the lower grades of {} and {}"}


class SwapRow(NamedTuple):
    """Two runs that change places: their tags, and their gap under both sets of grades."""

    ahead: str
    behind: str
    swap: Swap


class GroundRow(NamedTuple):
    """An order under other grades, with τ between it and the order that it is compared with."""

    words: str
    graded: int
    changed: int | None
    order: Order
    drawing: SafeString
    swaps: list[SwapRow]


class StabilityRun(NamedTuple):
    """A run with its mean and rank under the released grades and under each person's."""

    tag: str
    name: str
    mean: float
    rank: int
    interval: Interval | None
    drawing: SafeString
    others: list[tuple[str, float, int]]


@dataclass
class StabilitySheet(ReportSheet[StabilityReport]):
    """The content of the page; `names` are the names of people that the reader may see."""

    names: Mapping[int, str]

    @cached_property
    def tags(self) -> list[str]:
        return [run["tag"] for run in self.report.result["runs"]]

    def _name(self, place: int) -> str:
        return self.names[self.report.result["people"][place]]

    def _words(self, ground: Mapping[str, Any]) -> str:
        people = [self._name(place) for place in ground["people"]]
        return people[0] if ground["kind"] == PERSON else ENDS[ground["kind"]].format(*people)

    def _order(self, ground: Mapping[str, Any]) -> Order:
        return order_from(ground["orders"][self.measure_place])

    @cached_property
    def released(self) -> Order:
        return self._order(self.report.result["grounds"][0])

    @cached_property
    def people(self) -> list[GroundRow]:
        """The orders under each person's grades."""
        return [self._row(each) for each in self.report.result["grounds"] if each["kind"] == PERSON]

    @cached_property
    def ends(self) -> list[GroundRow]:
        """The orders under the higher and the lower grades of two people."""
        return [self._row(each) for each in self.report.result["grounds"] if each["kind"] in ENDS]

    @cached_property
    def between(self) -> list[GroundRow]:
        """The order under the grades of one person compared with that of another, for people who share pairs."""
        graded = {tuple(each["people"]): each["graded"] for each in self.report.result["grounds"]}
        rows = []
        for each in self.report.result["between"]:
            words = " and ".join(self._name(place) for place in each["people"])
            rows.append(self._row(each | {"graded": graded[tuple(each["people"])], "changed": None}, words))
        return rows

    def _row(self, ground: Mapping[str, Any], words: str = "") -> GroundRow:
        order, words = self._order(ground), words or self._words(ground)
        swaps = [SwapRow(self.tags[swap.ahead], self.tags[swap.behind], swap) for swap in order.swaps]
        return GroundRow(words, ground["graded"], ground["changed"], order, tau_cell(words, order), swaps)

    @property
    def left_out(self) -> int:
        """The number of people who judged and are not shown."""
        return len(self.report.result["people"]) - len(self.people)

    @property
    def verdict(self) -> str:
        return stability.verdict(self.tags, [PersonOrder(row.words, row.order) for row in self.people], self.measure)

    @property
    def tau_head(self) -> SafeString:
        return head_cell(TAU_BOUNDS)

    @cached_property
    def bounds(self) -> Bounds:
        orders = [self.released, *(row.order for row in self.people)]
        return bounds_of([end for order in orders for mean, spread in order.means for end in (mean, *(spread or ()))])

    @property
    def head(self) -> SafeString:
        return head_cell(self.bounds)

    @property
    def runs(self) -> list[StabilityRun]:
        """The runs in the order of the released grades."""
        orders = [row.order for row in self.people]
        released, *places = (ranks([mean for mean, _ in order.means]) for order in (self.released, *orders))
        rows = []
        for place, run in enumerate(self.report.result["runs"]):
            mean, spread = self.released.means[place]
            people = zip(self.people, places, strict=True)
            others = [(row.words, row.order.means[place][0], rank[place]) for row, rank in people]
            drawing = run_cell(run["tag"], self.released, place, self.people, self.bounds.place)
            rows.append(StabilityRun(run["tag"], run["name"], mean, released[place], spread, drawing, others))
        return sorted(rows, key=lambda row: (-row.mean, row.tag))

    @property
    def figures(self) -> SafeString:
        """The figures of the drawing: means with intervals, one row for each run and person."""
        rows = [
            [run["tag"], words, number(order.means[place][0]), interval(order.means[place][1], 3), order.n]
            for place, run in enumerate(self.report.result["runs"])
            for words, order in [("released", self.released), *((row.words, row.order) for row in self.people)]
        ]
        return figures(["Run", "Grades of", self.measure, "95 % interval", "n"], rows, words=2)


def tau_cell(words: str, order: Order) -> SafeString:
    """τ with its interval on a scale from −1 to 1; without a mark where it is not defined."""
    low, high = order.interval or (None, None)
    row = DrawnEstimate(words, order.tau, low, high, order.n, "τ-b")
    undefined = f"{words}: τ is not defined" if order.tau is None else ""
    return estimate_cell(row, TAU_BOUNDS, words=undefined, with_zero=True)


def run_cell(name: str, released: Order, run: int, people: Sequence[GroundRow], place: Scale) -> SafeString:
    """The mean under the released grades as a filled dot with its whisker, and a hollow dot for each person's mean."""
    middle = CELL_HEIGHT / 2
    mean, spread = released.means[run]
    low, high = spread or (None, None)
    row = DrawnEstimate(name, mean, low, high, released.n)
    dots = []
    for person in people:
        value = person.order.means[run][0]
        words = title(f"{name}, grades of {person.words}: {number(value)}")
        dots.append(tag("circle", words, class_="open", cx=place(value), cy=middle, r=3.5))
    return svg(CELL_WIDTH, CELL_HEIGHT, row.words, [*dots, whisker(row, place, middle)])


PAGES = ReportPages("stability", "Stability", StabilityReport, StabilityForm)


@require_safe
@member_view(Role.LEAD, Role.VIEWER)
def stability_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One report: the order under each person's grades. Leads read names, others letters."""
    member = member_of(request)
    report = visible_report(StabilityReport, member, pk)
    if not report.is_computed:
        return progress_page(request, PAGES, report)
    names = names_for(member, report.result["people"])
    return report_page(request, PAGES, StabilitySheet(report, request.GET.get("measure", ""), names))
