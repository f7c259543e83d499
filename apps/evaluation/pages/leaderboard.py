"""The leaderboard page and its data, from stored scores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.text.wording import number
from apps.evaluation import rules
from apps.evaluation.actions.scoring import request_evaluations
from apps.evaluation.forms import ScoreForm
from apps.evaluation.models import Score
from apps.evaluation.pages import leaderboard_charts
from apps.evaluation.presenters import score_charts as charts
from apps.evaluation.presenters.score_tables import conventions_of
from apps.evaluation.presenters.version_choice import (
    ground_context,
    requested_hit,
    requested_part,
    requested_split,
    requested_version,
)
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.evaluations import SlicePart, grounds_of
from apps.evaluation.selectors.leaderboard import LeaderboardLine, RankedRun
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.columns import Floats
from apps.metrics.comparison import is_lower_better
from apps.metrics.expected.rules import BY_GRADES, HitRuleError, counts_questions, parse_hit_rule
from apps.metrics.scorecard import LOWER_END
from apps.metrics.statistics.places import Places, RankRange, lead_by_chance, places
from apps.metrics.statistics.significance import Correction
from apps.retrieval.selectors.runs import is_ready_for_runs

RUNS_A_PAGE = 50
MOST_CHOICES = 200
MOST_NAMED = 4
MOST_LANES = 5
"""Of brackets side by side. More of them are written as small letters."""
IN_PROGRESS_SHOWN = 20


class BoardRow(NamedTuple):
    """A run on a leaderboard, with its letter; `place` is None where the main measure was not scored.

    `in_pairs` says, by their letters, which runs it is told apart from, and which not. `lanes` are the brackets beside
    it from left to right: "tie" where one passes, "tie starts" and "tie ends", "" where a lane is empty; `ties` names
    them where they are written as letters.
    """

    letter: str
    ranked: RankedRun
    main: Score | None
    place: RankRange | None
    in_pairs: list[str]
    drawing: str
    others: list[tuple[str, Score | None]]
    lanes: Sequence[str] = ()
    ties: str = ""

    @property
    def judged_between(self) -> tuple[float, float] | None:
        return self.ranked.judged.interval if self.ranked.judged else None


@dataclass
class LeaderboardPage:
    """One page of the runs of one split of a version, best first by the main measure.

    Places, ties and the scale of the charts are those of all `lines`, whichever page is shown.
    """

    measures: list[str]
    lines: list[LeaderboardLine]
    page: Page[LeaderboardLine]
    runs: list[RankedRun]
    hit: str = BY_GRADES
    correction: Correction = Correction.HOLM

    @property
    def main(self) -> str:
        return self.measures[0]

    @property
    def total(self) -> int:
        return len(self.lines)

    @property
    def choices(self) -> list[LeaderboardLine]:
        """The runs offered for a comparison: all while they are few, else the page's and the best."""
        if self.total <= MOST_CHOICES:
            return self.lines
        shown = list(self.page)
        return shown if self.lines[0] in shown else [self.lines[0], *shown]

    @cached_property
    def bounds(self) -> charts.Bounds:
        ends = [end for line in self.lines for end in (line.mean, *(line.interval or ())) if end is not None]
        return charts.bounds_of(ends)

    @cached_property
    def scored(self) -> list[LeaderboardLine]:
        """The runs that have a value by the main measure; all others are behind them."""
        return [line for line in self.lines if line.mean is not None]

    @cached_property
    def _values(self) -> Floats:
        keys = [line.score_id for line in self.scored if line.score_id is not None]
        return leaderboard.values_by_run(keys)

    @cached_property
    def places(self) -> Places:
        return places(self._values, is_lower_better=self.is_lower_better, correction=self.correction)

    @cached_property
    def _at(self) -> dict[int | None, int]:
        """The index of each scored run, by the key of its score."""
        return {line.score_id: at for at, line in enumerate(self.scored)}

    @property
    def is_lower_better(self) -> bool:
        return is_lower_better(self.main)

    @property
    def finding(self) -> str:
        """Which runs the best one is better than, and which cannot be told apart from it; empty for fewer than two."""
        if len(self.scored) < 2:
            return ""
        names = leaderboard.names_on_board(self.scored)
        behind, level = self.places.worse_than(0), self.places.not_told_apart_from(0)
        near = f"{_some(names[at] for at in level)} cannot be told apart from" if level else ""
        if not behind:
            return f"{near} {names[0]}."
        lead = f"{names[0]} is better than {_some(names[at] for at in behind)}"
        return f"{lead}; {near} it." if near else f"{lead}."

    @cached_property
    def lanes(self) -> list[list[tuple[int, int]]]:
        """The brackets of runs of which none is better than another, those that overlap in lanes side by side."""
        lanes: list[list[tuple[int, int]]] = []
        for bracket in self.places.brackets:
            lane = next((lane for lane in lanes if lane[-1][1] < bracket[0]), None)
            if lane is None:
                lanes.append([bracket])
            else:
                lane.append(bracket)
        return lanes

    @property
    def are_ties_drawn(self) -> bool:
        return 0 < len(self.lanes) <= MOST_LANES

    @property
    def are_ties_written(self) -> bool:
        return len(self.lanes) > MOST_LANES

    def _lanes_at(self, at: int) -> list[str]:
        if not self.are_ties_drawn:
            return []
        return [next((_mark_at(at, *one) for one in lane if one[0] <= at <= one[1]), "") for lane in self.lanes]

    def _ties_at(self, at: int) -> str:
        if not self.are_ties_written:
            return ""
        of = [place for place, (first, last) in enumerate(self.places.brackets) if first <= at <= last]
        return " ".join(letter_of(place).lower() for place in of)

    @property
    def chance_words(self) -> str:
        """What choosing the best of so many runs gains by chance, as a sentence; "" for few runs."""
        gain = lead_by_chance(self._values)
        if gain is None:
            return ""
        alike = f"Of {self._values.shape[1]} runs that are all as good, the best would seem {number(gain)} {self.main}"
        return f"{alike} better than their mean by chance; other questions than these tell whether it is."

    @property
    def first_words(self) -> str:
        """Which runs may be first, as the end of a sentence."""
        names = leaderboard.names_on_board(self.scored)
        first = [name for name, place in zip(names, self.places.ranges, strict=True) if place.best == 1]
        return f"first place may be {_some(first, 'or')}" if len(first) > 1 else f"first place is {first[0]}"

    @property
    def head(self) -> str:
        return charts.head_cell(self.bounds)

    @cached_property
    def rows(self) -> list[BoardRow]:
        return [self._row(ranked) for ranked in self.runs]

    @cached_property
    def _order(self) -> dict[int, int]:
        return {line.run_id: at for at, line in enumerate(self.lines)}

    def _row(self, ranked: RankedRun) -> BoardRow:
        letter = letter_of(self._order[ranked.run.pk])
        main = ranked.scores.get(self.main)
        others = [(name, ranked.scores.get(name)) for name in self.measures[1:]]
        at = self._at.get(main.pk) if main else None
        if main is None or at is None:
            return BoardRow(letter, ranked, main, None, [], "", others)
        place = self.places.ranges[at]
        drawing = leaderboard_charts.place_cell(ranked.run.tag, main, place, self.bounds)
        ties = self._lanes_at(at), self._ties_at(at)
        return BoardRow(letter, ranked, main, place, self._in_pairs(at), drawing, others, *ties)

    def _in_pairs(self, at: int) -> list[str]:
        runs = {
            "better than": self.places.worse_than(at),
            "worse than": self.places.better_than(at),
            "not told apart from": self.places.not_told_apart_from(at),
        }
        return [f"{words} {_letters(others)}" for words, others in runs.items() if others]

    @property
    def conventions(self) -> str:
        return parse_hit_rule(self.hit).words if self.hit else conventions_of(self.measures)


def board(
    version: Version,
    split: str,
    hit: str,
    first: str,
    page: str | None,
    part: SlicePart | None = None,
    correction: Correction = Correction.HOLM,
) -> LeaderboardPage | None:
    """The requested page of the leaderboard by grades or a hit rule, of a split or a slice; None without scores."""
    measures = leaderboard.measures_on(version, split, first, hit, part)
    if not measures:
        return None
    lines = leaderboard.lines_on(version, split, measures[0], hit, part)
    shown = Paginator(lines, RUNS_A_PAGE).get_page(page)
    ranked = leaderboard.ranked_runs_of(version, split, [line.run_id for line in shown], hit, part)
    return LeaderboardPage(measures, lines, shown, ranked, hit, correction)


def _mark_at(at: int, first: int, last: int) -> str:
    """A bracket as it passes the run at this place."""
    if at == first:
        return "tie starts"
    return "tie ends" if at == last else "tie"


def letter_of(at: int) -> str:
    """A to Z, then AA, AB and so on, as columns of a spreadsheet are named."""
    letters = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _letters(places: Sequence[int]) -> str:
    """The letters of ascending places; three or more in a row as `C to F`."""
    rows: list[list[int]] = []
    for at in places:
        if rows and rows[-1][-1] == at - 1:
            rows[-1].append(at)
        else:
            rows.append([at])
    words: list[str] = []
    for row in rows:
        ends = [letter_of(at) for at in row]
        words += [f"{ends[0]} to {ends[-1]}"] if len(row) > 2 else ends
    return _joined(words)


def _some(names: Iterable[str], last: str = "and") -> str:
    """The first of them by name, and the number of the others."""
    named = list(names)
    if len(named) > MOST_NAMED:
        named = [*named[: MOST_NAMED - 1], f"{len(named) - MOST_NAMED + 1:,} more"]
    return _joined(named, last)


def _joined(words: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


@require_safe
@member_view()
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    """The leaderboard of one version and split, and what to score next."""
    version = requested_version(request, project)
    if version is None:
        can_upload = member_of(request).is_lead and is_ready_for_runs(project)
        return render(request, "evaluation/leaderboard.html", {"version": None, "can_upload": can_upload})
    hit = requested_hit(request, version)
    part = requested_part(request, version)
    split = Split.DEV.value if part else requested_split(request, version, hit)
    form = None
    if member_of(request).is_lead:
        chosen = request.GET.getlist("run")
        form = ScoreForm(version=version, hit=hit, part=part, initial={"split": split, "chosen": chosen})
    return render(request, "evaluation/leaderboard.html", _board_context(request, version, split, hit, form, part))


def _board_context(
    request: HttpRequest,
    version: Version,
    split: str,
    hit: str,
    form: ScoreForm | None,
    part: evaluations.SlicePart | None = None,
) -> dict[str, Any]:
    requested = evaluations.requested_on(version, split, hit, part)
    measure, page = request.GET.get("measure", ""), request.GET.get("page")
    correction = rules.requested_correction(request.GET.get("correction", ""))
    return {
        **ground_context(version, split, hit, part),
        "lower_end": LOWER_END if counts_questions(hit) else "",
        "pooling_note": evaluations.pooling_words(version, hit),
        "board": board(version, split, hit, measure, page, part, correction),
        "step": rules.step_words(None if part else evaluations.ladder_shown(version, split, hit)),
        "elsewhere": _scored_elsewhere(version, split, hit),
        "in_progress": evaluations.in_progress(requested, IN_PROGRESS_SHOWN),
        "in_progress_count": sum(not one.is_scored for one in requested),
        "form": form,
        "chosen": request.GET.getlist("run"),
    }


def _scored_elsewhere(version: Version, split: str, hit: str) -> list[tuple[str, str]]:
    """The other splits of the version with scores, as key and words."""
    scored = grounds_of(version).splits(hit)
    return [(other, rules.SPLIT_WORDS[other]) for other in rules.SPLITS if other in scored and other != split]


@require_POST
@member_view(Role.LEAD)
def score(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    version = frozen_in(project, version_pk)
    try:
        hit = rules.canonical_hit(request.POST.get("hit", ""))
    except HitRuleError as fault:
        raise Http404(str(fault)) from fault
    form = ScoreForm(request.POST, version=version, hit=hit)
    if not form.is_valid():
        split = request.POST.get("split", "")
        context = _board_context(request, version, split if split in rules.SPLITS else Split.DEV, hit, form)
        return render(request, "evaluation/leaderboard.html", context, status=400)
    values = form.cleaned_data
    requested = request_evaluations(
        project=project,
        run_ids=values["runs"],
        version_id=version.pk,
        split=values["split"],
        hit=hit,
        slice_name=values["slice"],
        measures=values["measures"],
        actor=user_of(request),
        at=timezone.now(),
    )
    if all(evaluation.is_scored for evaluation in requested):
        messages.info(request, "These runs are scored already.")
    ground: dict[str, Any] = {"version": version.pk, "split": values["split"], "hit": hit, "run": values["runs"]}
    ground |= {"slice": values["slice"]} if values["slice"] else {}
    return redirect(reverse("evaluation:overview", args=[project.slug], query=ground))
