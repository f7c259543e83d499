"""The page of a version's slices: what each can tell, how the quarter's is balanced, how it rotates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from numpy.typing import NDArray

from apps.accounts.access.pages import member_view
from apps.accounts.models import Project
from apps.common.drawing.charts import figures, plot
from apps.common.text.wording import number, percent
from apps.evaluation.core import charts
from apps.evaluation.core.robustness import LARGELY, NEARLY, SliceSignal, signal_of
from apps.evaluation.presenters.run_panels import on_slices_page
from apps.evaluation.presenters.version_choice import (
    hits_of,
    offered_versions,
    requested_hit,
    requested_version,
)
from apps.evaluation.selectors.slice_values import StoredValues, measures_of_runs, stored_values
from apps.goldsets.core.slice_sampling import (
    USUAL_SIZE,
    Balance,
    balance,
    first_day,
    furthest,
    next_quarter,
    quarter_of,
    turns,
)
from apps.goldsets.enums import GROWING, SliceKind
from apps.goldsets.models import Slice, Version
from apps.goldsets.selectors import slices
from apps.metrics.expected.rules import counts_questions
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import Summary, summaries

LIMIT = 5
"""Percentage points by which a kind may be off before the page calls the slice unbalanced."""
SMALL_SHARE = 4
NONE_GIVEN = "none given"
ABOUT = {
    SliceKind.ROTATING: "this quarter’s sample, for the weekly gate",
    SliceKind.CHALLENGE: "from disputes, drops and misses",
    SliceKind.REGRESSION: "fell once, must not fall again",
    SliceKind.CANARY: "picked by hand, for every change",
}
CHANGES = {SliceKind.CHALLENGE: "grows as found", SliceKind.REGRESSION: "grows as found", SliceKind.CANARY: "by hand"}
MONTHS = ("Jan to Mar", "Apr to Jun", "Jul to Sep", "Oct to Dec")


class SliceRow(NamedTuple):
    """A kind of slice: what there is of it and what it can tell. `part` is None before it is made."""

    kind: SliceKind
    about: str
    part: Slice | None
    questions: int
    found: int
    changes: str
    signal: SliceSignal | None = None
    summary: Summary | None = None
    tau_drawing: SafeString = SafeString("")
    width_drawing: SafeString = SafeString("")
    full_width: float | None = None

    @property
    def width(self) -> float | None:
        """The width of the interval in points."""
        return width_of(self.summary)

    @property
    def times(self) -> float | None:
        """How many times as wide the interval is as that on the full set."""
        return self.width / self.full_width if self.width is not None and self.full_width else None


def width_of(summary: Summary | None) -> float | None:
    if summary is None or summary.interval is None:
        return None
    low, high = summary.interval
    return 100 * (high - low)


@dataclass
class SlicesPage:
    """The slices of one version, measured against what is counted as right by `hit`, on a day."""

    version: Version
    hit: str
    asked_measure: str
    today: date

    @cached_property
    def questions(self) -> list[slices.SliceQuestion]:
        return slices.questions_for_slices(self.version)

    @cached_property
    def parts(self) -> dict[str, slices.CountedSlice]:
        """The newest slice of each kind."""
        return {part.kind: part for part in slices.newest_slices(self.version)}

    @cached_property
    def members(self) -> dict[int, list[tuple[str, str | None, str | None]]]:
        """The rows of each slice: name, outside id of the query, label of the triple."""
        found: dict[int, list[tuple[str, str | None, str | None]]] = {part.pk: [] for part in self.parts.values()}
        for item in self.items:
            if item.slice_id in found:
                found[item.slice_id].append((item.name, item.query, item.label))
        return found

    @cached_property
    def items(self) -> list[slices.SliceItem]:
        """The members of the slices shown, of every quarter's, and of those that are carried on."""
        return slices.items_of(self.version, list(self.parts.values()))

    def carried(self, kind: SliceKind) -> list[slices.FoundQuestion]:
        """What the slice of this kind on the version before has."""
        shown = self.parts.get(kind)
        rows = [item for item in self.items if item.kind == kind and (shown is None or item.slice_id != shown.pk)]
        return [slices.FoundQuestion(item.name, item.why) for item in rows]

    @cached_property
    def measures(self) -> list[str]:
        return measures_of_runs(self.version, self.hit)

    @property
    def measure(self) -> str:
        return self.asked_measure if self.asked_measure in self.measures else next(iter(self.measures), "")

    @cached_property
    def stored(self) -> StoredValues | None:
        """None before a run was scored on all dev questions."""
        stored = stored_values(self.version, self.measure, self.hit) if self.measure else None
        return stored if stored is not None and stored.questions else None

    def inside(self, part: Slice) -> NDArray[np.bool_]:
        """Which of the scored questions are in the slice."""
        assert self.stored is not None
        place = 2 if counts_questions(self.hit) else 1
        names = {row[place] for row in self.members[part.pk]}
        return np.array([question in names for question in self.stored.questions], dtype=bool)

    def summary(self, rows: NDArray[np.bool_] | None = None) -> Summary:
        """The best run's mean with its interval, on the full set or on a part of it."""
        assert self.stored is not None
        column = self.stored.values[:, [self.stored.best]]
        column = column if rows is None else column[rows]
        return summaries([parse_measure(self.measure)], column)[0]

    @cached_property
    def full(self) -> Summary | None:
        return self.summary() if self.stored else None

    @cached_property
    def rows(self) -> list[SliceRow]:
        rows = [self._row(kind) for kind in SliceKind]
        told = [one for row in rows if row.signal for one in (row.signal.tau, *(row.signal.interval or ()))]
        low = -1.0 if min([0.0, *(one for one in told if one is not None)]) < 0 else 0.0
        full = width_of(self.full)
        widest = max([row.width or 0.0 for row in rows] + [full or 0.0]) or 1.0
        return [self._drawn(row, low, full, widest) for row in rows]

    def _row(self, kind: SliceKind) -> SliceRow:
        part = self.parts.get(kind)
        changes = CHANGES.get(kind) or f"{self.next_day:%-d %B}"
        if part is None:
            return SliceRow(kind, ABOUT[kind], None, 0, self.found[kind], changes)
        row = SliceRow(kind, ABOUT[kind], part, part.questions, self.found[kind], changes)
        if self.stored is None:
            return row
        inside = self.inside(part)
        return row._replace(signal=signal_of(self.stored.values, inside), summary=self.summary(inside))

    def _drawn(self, row: SliceRow, low: float, full: float | None, widest: float) -> SliceRow:
        if row.signal is None:
            return row
        name = str(row.kind.label)
        tau = mark_safe(charts.tau_cell(name, row.signal, low))
        wide = row.width is not None and full is not None
        width = mark_safe(charts.width_cell(name, row.width or 0, full or 0, widest)) if wide else SafeString("")
        return row._replace(tau_drawing=tau, width_drawing=width, full_width=full)

    @property
    def tau_head(self) -> SafeString:
        if not any(row.signal for row in self.rows):
            return SafeString("")
        is_negative = any(row.signal and row.signal.interval and row.signal.interval[0] < 0 for row in self.rows)
        return mark_safe(charts.tau_head(-1.0 if is_negative else 0.0))

    @cached_property
    def found(self) -> dict[SliceKind, int]:
        """How many questions were found for each slice that grows and are not in it."""
        names = slices.names_by_item(self.questions)
        counts = {}
        for kind in GROWING:
            part = self.parts.get(kind)
            taken = {name for name, *_ in self.members[part.pk]} if part else set()
            counts[kind] = len(slices.found_for(self.version, kind, taken, names, self.carried(kind)))
        return {SliceKind.ROTATING: 0, **counts}

    @property
    def full_width(self) -> float | None:
        return width_of(self.full)

    @property
    def best_name(self) -> str:
        return self.stored.runs[self.stored.best].system.name if self.stored else ""

    # The quarter ------------------------------------------------------------------------------------------------

    @property
    def quarter(self) -> str:
        return quarter_of(self.today)

    @property
    def next_day(self) -> date:
        return first_day(next_quarter(self.quarter))

    @property
    def days_left(self) -> int:
        return (self.next_day - self.today).days

    @property
    def rotating(self) -> SliceRow | None:
        """This quarter's slice; None before it is drawn."""
        row = self.rows[0]
        return row if row.part is not None and row.part.quarter == self.quarter else None

    @property
    def usual_size(self) -> int:
        """How many questions to propose: as many as usual, or a quarter of a small set."""
        return max(1, min(USUAL_SIZE, len(self.questions) // SMALL_SHARE))

    @property
    def finding(self) -> str:
        """The conclusion in one sentence."""
        row = self.rotating
        if row is None:
            return f"No questions are drawn for {self.quarter_words} yet."
        drawn = f"{row.questions:,} questions are drawn for {self.quarter_words}"
        if self.stored is None or row.signal is None:
            return f"{drawn}; no run is scored on all of them yet."
        if row.signal.tau is None:
            return f"{drawn}; to compare orders takes two runs that differ, and other questions."
        n, runs, others = row.signal.n, row.signal.runs, row.signal.others
        return f"This quarter’s {n:,} questions put the {runs:,} runs {row.signal.words} the other {others:,} do."

    @property
    def advice(self) -> str:
        """What follows from the finding."""
        row = self.rotating
        if row is None:
            return f"A draw is a sample by {', '.join(slices.FIELDS)}; it repeats no question before all were used."
        if row.signal is None or row.signal.tau is None:
            return "Score two or more runs on the whole dev split; this page then says how much the slice can tell."
        if row.signal.tau >= NEARLY:
            use = "Good enough for the weekly gate."
        elif row.signal.tau >= LARGELY:
            use = "Good enough to notice a large fall, not to rank runs."
        else:
            use = "Do not rank runs by it."
        if row.times is None:
            return use
        wider = f"the slice’s intervals are {number(row.times, 1)} times as wide"
        return f"{use} To tell two close runs apart, use the full set: {wider}."

    @property
    def basis(self) -> str:
        """Method and figures, for the small line below."""
        row = self.rotating
        if row is None or row.signal is None or row.signal.tau is None or self.stored is None:
            return ""
        tau = row.signal.tau
        low, high = row.signal.interval or (tau, tau)
        span = f"{number(tau, 2)}, {number(low, 2)} to {number(high, 2)}"
        on_slice, on_full = mean_words(row.summary), mean_words(self.full)
        return (
            f"Rank correlation with the other questions (Kendall’s τ) {span}; "
            f"τ_AP, to which the top counts more, {number(row.signal.tau_ap, 2)}. "
            f"{self.best_name}’s {self.measure} on the slice: {on_slice}; on the full set: {on_full}."
        )

    @property
    def quarter_words(self) -> str:
        return f"{quarter_name(self.quarter)} {self.quarter[:4]}"

    # Balance and rotation ---------------------------------------------------------------------------------------

    @cached_property
    def balance(self) -> list[Balance]:
        row = self.rotating
        if row is None or row.part is None:
            return []
        names = {name for name, *_ in self.members[row.part.pk]}
        strata = [question.strata for question in self.questions]
        return balance(tuple(slices.FIELDS), strata, [question.name in names for question in self.questions])

    @property
    def balance_chart(self) -> SafeString:
        return plot(charts.balance_bars(self.balance, slices.FIELDS))

    @property
    def balance_figures(self) -> SafeString:
        rows = [
            (
                slices.FIELDS[one.field],
                one.value or NONE_GIVEN,
                _of(one.inside, one.share),
                _of(one.overall, one.full_share),
            )
            for one in self.balance
        ]
        return figures(["By", "Kind", "Slice", "Full set"], rows, words=2)

    @property
    def furthest(self) -> str:
        """The kind that is furthest from the full set, and whether that is within the limit."""
        row = furthest(self.balance)
        if row is None:
            return "All questions are of one kind."
        more = "more" if row.points >= 0 else "fewer"
        off = f"{number(abs(row.points), 1)} points {more}"
        fit = f"The limit is {LIMIT}." if abs(row.points) <= LIMIT else f"That is beyond the limit of {LIMIT}."
        return f"Furthest from the full set: {row.value or NONE_GIVEN}, {row.inside} of {row.of_slice}, {off}. {fit}"

    @property
    def is_unbalanced(self) -> bool:
        row = furthest(self.balance)
        return row is not None and abs(row.points) > LIMIT

    @cached_property
    def used(self) -> list[str]:
        """The last quarter of each question of the version, "" for one never drawn."""
        used: dict[str, str] = {}
        for item in self.items:
            if item.quarter:
                used[item.name] = max(item.quarter, used.get(item.name, ""))
        return [used.get(question.name, "") for question in self.questions]

    @property
    def size(self) -> int:
        return self.rotating.questions if self.rotating else self.usual_size

    @property
    def rotation_chart(self) -> SafeString:
        shown = turns(self.used, self.quarter, self.size)
        return plot(charts.rotation_bar(shown, {turn.quarter: quarter_name(turn.quarter) for turn in shown}))

    @property
    def unused(self) -> int:
        return self.used.count("")

    @property
    def next_words(self) -> str:
        """What the next quarter draws."""
        fresh = min(self.unused, self.size)
        again = self.size - fresh
        if not again:
            return f"{self.next_day:%-d %B}, {fresh:,} questions never used before"
        if not fresh:
            return f"{self.next_day:%-d %B}, the {again:,} used longest ago"
        return f"{self.next_day:%-d %B}, the {fresh:,} left, then the {again:,} used longest ago"


def quarter_name(quarter: str) -> str:
    """ "Oct to Dec"; empty for none."""
    return MONTHS[int(quarter[-1]) - 1] if quarter else ""


def mean_words(summary: Summary | None) -> str:
    """ "0.842, 0.77 to 0.90, n 120"."""
    if summary is None or summary.mean is None:
        return "no value"
    spread = ", no interval"
    if summary.interval:
        spread = f", {number(summary.interval[0], 2)} to {number(summary.interval[1], 2)}"
    return f"{number(summary.mean)}{spread}, n {summary.n:,}"


def _of(count: int, share: float) -> str:
    return f"{count}, {percent(share)}"


@require_safe
@member_view()
def slices_page(request: HttpRequest, project: Project) -> HttpResponse:
    """How far each slice orders runs as the other questions do, how the quarter's is balanced, and how it rotates."""
    version = requested_version(request, project)
    if version is None:
        return render(request, "evaluation/slices.html", {"version": None})
    hit = requested_hit(request, version)
    page = SlicesPage(version, hit, request.GET.get("measure", ""), timezone.localdate())
    context = {
        "version": version,
        "versions": offered_versions(project),
        "hit": hit,
        "hits": hits_of(version, hit),
        "slices": page,
        "panels": [panel(version) for panel in on_slices_page],
        "growing": GROWING,
    }
    return render(request, "evaluation/slices.html", context)
