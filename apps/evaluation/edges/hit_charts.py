"""Charts of scores by triples: the first right rank, and kinds of questions."""

from collections.abc import Sequence

from django.utils.safestring import SafeString

from apps.common.drawing.charts import (
    Scale,
    clip,
    figures,
    plot,
    scale,
    svg,
    tag,
    text,
    ticks,
    title,
)
from apps.common.text.wording import interval, number, percent, percent_interval, signed
from apps.evaluation.edges.hit_sheets import KindRow, is_yes_or_no
from apps.metrics.expected.measures import RankBin

WIDTH, RANKS_HEIGHT = 592.0, 220.0
BASE, TOP, TALLEST = 188.0, 16.0, 150.0
BAR, GAP = 24.0, 2.0
LONGEST_KIND = 26
KINDS_FROM, KINDS_TO, KIND_STEP = 200.0, 432.0, 36.0
WORDS_AT, COUNTS_AT = 448.0, 188.0


def rank_chart(names: Sequence[str], runs: Sequence[Sequence[RankBin]], cutoff: int | None) -> SafeString:
    """Bars of how many questions have their first hit at each rank, run beside run; sunken ground after the cutoff."""
    bins, total = runs[0], sum(one.questions for one in runs[0])
    step = WIDTH / len(bins)
    most = max((one.questions for run in runs for one in run), default=0) or 1
    parts = _beyond(names, runs, cutoff, step) if cutoff else []
    for place, one in enumerate(bins):
        middle = step * (place + 0.5)
        left = middle - (BAR * len(runs) + GAP * (len(runs) - 1)) / 2
        for at, (name, run) in enumerate(zip(names, runs, strict=True)):
            parts += _bar(name, run[place], left + at * (BAR + GAP), most, total, is_last=at == len(runs) - 1)
        parts.append(text(middle, BASE + 18, one.words, anchor="middle"))
    parts.append(tag("path", class_="axis", d=f"M0 {BASE + 0.5:.1f}H{WIDTH:.0f}"))
    return plot(svg(WIDTH, RANKS_HEIGHT, f"First right rank of {' and '.join(names)}, questions", parts))


def _bar(name: str, one: RankBin, x: float, most: int, total: int, *, is_last: bool) -> list[str]:
    height = max(TALLEST * one.questions / most, 1.0 if one.questions else 0.0)
    words = title(f"{name}, rank {one.words}: {one.questions:,} of {total:,}")
    bar = tag("rect", words, class_="b" if is_last else "a", x=x, y=BASE - height, width=BAR, height=height)
    css = "strong" if is_last else "word"
    return [bar, text(x + BAR / 2, BASE - height - 5, f"{one.questions:,}", anchor="middle", class_=css)]


def _beyond(names: Sequence[str], runs: Sequence[Sequence[RankBin]], cutoff: int, step: float) -> list[str]:
    """The ground behind the ranks that do not count, where a bin begins there; and how many questions lie in it."""
    first = next((place for place, one in enumerate(runs[0]) if one.first == cutoff + 1), None)
    if first is None:
        return []
    x = step * first
    missed = [sum(one.questions for one in run[first:]) for run in runs]
    counts = ", ".join(f"{name} {number_of:,}" for name, number_of in zip(names, missed, strict=True))
    return [
        tag("rect", class_="ground", x=x, y=TOP - 12, width=WIDTH - x, height=BASE - TOP + 12),
        tag("path", class_="limit", d=f"M{x:.1f} {TOP - 12:.1f}V{BASE:.1f}"),
        text(
            x + 8,
            TOP + 4,
            "after the first: missed" if cutoff == 1 else f"beyond the first {cutoff}: missed",
            class_="halo",
        ),
        text(x + 8, TOP + 20, counts, class_="halo"),
    ]


def rank_figures(names: Sequence[str], runs: Sequence[Sequence[RankBin]]) -> SafeString:
    rows = [[one.words, *(run[place].questions for run in runs)] for place, one in enumerate(runs[0])]
    return figures(["First right rank", *names], rows)


def kind_chart(measure: str, names: Sequence[str], rows: Sequence[KindRow]) -> SafeString:
    """One line for each kind: a dot with whisker for each run, and of two runs the difference in words."""
    ends = [
        end for row in rows for one in row.summaries for end in (*(one.interval or ()), one.mean) if end is not None
    ]
    low, high = max(0.0, min(ends, default=0.0) - 0.03), min(1.0, max(ends, default=1.0) + 0.03)
    place = scale(low, high, KINDS_FROM, KINDS_TO)
    bottom = KIND_STEP * len(rows) + 10
    yes_or_no = is_yes_or_no(measure)
    parts = []
    for value in ticks(low, high, 5):
        parts.append(tag("path", class_="grid", d=f"M{place(value):.1f} 4V{bottom:.1f}"))
        words = percent(value, 0) if yes_or_no else number(value, 1)
        parts.append(text(place(value), bottom + 20, words, anchor="middle"))
    for at, row in enumerate(rows):
        parts += _kind(row, names, place, 8 + KIND_STEP * at, yes_or_no=yes_or_no)
    parts.append(tag("path", class_="axis", d=f"M{KINDS_FROM:.0f} {bottom + 0.5:.1f}H{KINDS_TO:.0f}"))
    return plot(svg(WIDTH, bottom + 30, f"{measure} by kind of question, with 95 % intervals", parts))


def _kind(row: KindRow, names: Sequence[str], place: Scale, top: float, *, yes_or_no: bool) -> list[str]:
    css = "strong" if row.is_clear else "word"
    parts = [
        text(0, top + 22, clip(row.label, LONGEST_KIND), class_="strong" if not row.field else "word"),
        text(COUNTS_AT, top + 22, f"{row.n:,}", anchor="end"),
    ]
    for at, (name, one) in enumerate(zip(names, row.summaries, strict=True)):
        if one.mean is None:
            continue
        y = top + 12.5 + 11 * at
        low, high = one.interval or (one.mean, one.mean)
        words = title(f"{row.label}, {name}: {_words(one.mean, one.interval, one.n, yes_or_no=yes_or_no)}")
        mark = "a" if at == 0 and len(names) > 1 else "b"
        line = tag("line", class_=mark, x1=place(low), x2=place(high), y1=y, y2=y)
        parts.append(tag("g", words + line + tag("circle", class_=mark, cx=place(one.mean), cy=y, r=4.5)))
    if row.difference is not None:
        parts.append(text(WORDS_AT, top + 22, difference_words(row, yes_or_no=yes_or_no), class_=css))
    return parts


def difference_words(row: KindRow, *, yes_or_no: bool) -> str:
    """`+18, clear`: questions more or fewer, or the difference of the means."""
    difference = row.difference
    assert difference is not None
    moved = difference.better - difference.worse
    figure = (f"+{moved:,}" if moved > 0 else f"{moved:,}".replace("-", "−")) if yes_or_no else ""
    figure = figure or signed(difference.mean)
    if row.is_clear:
        return f"{figure}, clear"
    return f"{figure}, not settled" if difference.better + difference.worse else "no difference seen"


def _words(mean: float, bounds: tuple[float, float] | None, n: int, *, yes_or_no: bool) -> str:
    if yes_or_no:
        return f"{round(mean * n):,} of {n:,}, {percent(mean)}, interval {percent_interval(bounds)}"
    return f"{number(mean)}, {interval(bounds, 3)}, n {n:,}"


def kind_figures(measure: str, names: Sequence[str], rows: Sequence[KindRow]) -> SafeString:
    yes_or_no = is_yes_or_no(measure)
    head = ["Kind", "n", *names]
    table = [
        [
            row.name,
            f"{row.n:,}",
            *(_words(one.mean or 0.0, one.interval, one.n, yes_or_no=yes_or_no) for one in row.summaries),
        ]
        for row in rows
    ]
    if len(names) > 1:
        head.append(f"{names[1]} better, {names[0]} better")
        for cells, row in zip(table, rows, strict=True):
            assert row.difference is not None
            cells.append(f"{row.difference.better:,}, {row.difference.worse:,}")
    return figures(head, table)
