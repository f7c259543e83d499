"""Elements of SVG charts, icons and signs as plain strings, without Django, so that the command line can use them.

Colours are classes of a style sheet, every mark carries a <title>, every label is escaped here.
`apps.common.drawing.charts` builds the charts of pages from these parts, `apps.reports.core.document` those of reports.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from apps.common.text.wording import interval, number

ICONS = {
    "sun": (
        '<circle cx="8" cy="8" r="3"/>'
        '<path d="M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1"/>'
    ),
    "search": '<circle cx="7" cy="7" r="4"/><path d="m10 10 3.5 3.5"/>',
    "check": '<path d="m3 8.5 3.5 3.5L13 4.5"/>',
    "stop": ('<path d="M5.5 1.8h5l3.7 3.7v5l-3.7 3.7h-5l-3.7-3.7v-5z"/><path d="M8 5v3.5M8 11v.1"/>'),
    "warn": '<path d="M8 2.2l6.3 11.1H1.7z"/><path d="M8 6.5v3M8 11.3v.1"/>',
    "hidden": (
        '<path d="M2 8c1.6-2.7 3.6-4 6-4 .9 0 1.7.2 2.5.5M13 6.7c.4.4.7.8 1 1.3-1.6 2.7-3.6 4-6 4-.9 0-1.7-.2'
        '-2.5-.5"/><path d="m3 13 10-10"/>'
    ),
    "bell": '<path d="M4 11.500V7a4 4 0 0 1 8 0v4.500l1.300 1H2.700z"/><path d="M6.700 14.200h2.600"/>',
    "flag": '<path d="M4 14V2.500h8l-2 3 2 3H4"/>',
    "pin": '<path d="M5.5 2h5l-.7 4.5L12 9H4l2.2-2.5z"/><path d="M8 9v5"/>',
    "up": '<path d="M8 13V3M4.5 6.5 8 3l3.5 3.5"/>',
    "down": '<path d="M8 3v10M4.5 9.5 8 13l3.5-3.5"/>',
    "clock": '<circle cx="8" cy="8" r="5.8"/><path d="M8 4.8V8l2.2 1.6"/>',
    "done": '<circle cx="8" cy="8" r="4.5" fill="currentColor"/>',
    "todo": '<circle cx="8" cy="8" r="4.5"/>',
    "out": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "same": '<path d="M3 6h10M3 10h10"/>',
    "info": '<circle cx="8" cy="8" r="6"/><path d="M8 7.200v4M8 4.800v.1"/>',
}

_RING = '<circle cx="8" cy="8" r="5.5"/>'
_HALF = _RING + '<path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor"/>'
_FULL = '<circle cx="8" cy="8" r="5.5" fill="currentColor"/>'
_DIAMOND = '<path d="M8 2 14 8 8 14 2 8z"/><path d="M8 2v12"/>'
_DASHED = (
    '<circle cx="8" cy="8" r="5.5" stroke-dasharray="2.5 2.5"/>'
    '<circle cx="8" cy="8" r="2" fill="currentColor" stroke="none"/>'
)
_CROSS = '<path d="m3.5 3.5 9 9M12.5 3.5l-9 9"/>'
_FORK = '<path d="M2.5 8H7M7 8l5.5-4.5M7 8l5.5 4.5"/>'
_DOTTED = '<circle cx="8" cy="8" r="5.5" stroke-dasharray="2.5 2.5"/>'
_BAR = '<circle cx="8" cy="8" r="5.5"/><path d="M4.500 8h7"/>'


class Glyph(NamedTuple):
    drawing: str
    word: str
    tone: str = ""


STATES = {
    # triples
    "draft": Glyph(_RING, "draft"),
    "in_review": Glyph(_HALF, "in review"),
    "disputed": Glyph(_DIAMOND, "disputed", "wait"),
    "accepted": Glyph(_FULL, "accepted"),
    "stale": Glyph(_DASHED, "accepted, stale", "wait"),
    "dropped": Glyph(_CROSS, "dropped"),
    "split": Glyph(_FORK, "split"),
    "retired": Glyph(_BAR, "retired"),
    "withdrawn": Glyph(_CROSS, "withdrawn"),
    # judged pairs
    "unjudged": Glyph(_DOTTED, "unjudged"),
    "partly_judged": Glyph(_HALF, "partly judged"),
    "agreed": Glyph(_FULL, "agreed"),
    "disagreed": Glyph(_DIAMOND, "disagreed", "wait"),
    "reconciled": Glyph(_FULL, "reconciled"),
    "adjudicated": Glyph(_FULL, "adjudicated"),
    # gold versions and snapshots
    "frozen": Glyph(_HALF, "frozen"),
    "released": Glyph(_FULL, "released"),
    "superseded": Glyph(_BAR, "superseded"),
    # jobs and runs
    "queued": Glyph(_RING, "queued"),
    "pending": Glyph(_RING, "pending"),
    "running": Glyph(_HALF, "running"),
    "done": Glyph(_FULL, "done"),
    "complete": Glyph(_FULL, "complete"),
    "failed": Glyph(_CROSS, "failed", "bad"),
    "loading": Glyph(_HALF, "loading"),
    "ready": Glyph(_FULL, "ready"),
    "cancelled": Glyph(_BAR, "cancelled"),
    # rounds, invitations, tokens, memberships
    "planned": Glyph(_RING, "planned"),
    "opening": Glyph(_RING, "opening"),
    "open": Glyph(_HALF, "open"),
    "closed": Glyph(_FULL, "closed"),
    "active": Glyph(_FULL, "active"),
    "inactive": Glyph(_BAR, "inactive"),
    "used": Glyph(_FULL, "used"),
    "expired": Glyph(_CROSS, "expired"),
    "revoked": Glyph(_CROSS, "revoked"),
    # gates
    "passed": Glyph(_FULL, "passed", "good"),
    "unknown": Glyph(_DOTTED, "not known yet", "wait"),
    "nothing": Glyph(_RING, "nothing checked"),
}

Scale = Callable[[float], float]


def scale(low: float, high: float, start: float, end: float) -> Scale:
    """A linear map of [low, high] to [start, end] in pixels; values outside are cut to the ends."""
    span = (high - low) or 1.0

    def place(value: float) -> float:
        share = min(1.0, max(0.0, (value - low) / span))
        return start + share * (end - start)

    return place


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most `most` round values from `low` to `high`, including both ends when they are round."""
    if high <= low:
        return [low]
    raw = (high - low) / max(1, most - 1)
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(n * step, 10) for n in range(first, last + 1)]


def plain(value: float) -> str:
    """The label of a tick: "0", "0.2", "50", with a real minus sign."""
    return number(value, 10).rstrip("0").rstrip(".") if value else "0"


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """One SVG element; `text_anchor` becomes text-anchor, `class_` class; `content` is not escaped."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_pixels(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def _pixels(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return str(value)


def title(words: str) -> str:
    return f"<title>{escape(words)}</title>"


def text(x: float, y: float, words: str, *, anchor: str | None = None, class_: str | None = None) -> str:
    return tag("text", escape(words), class_=class_, x=float(x), y=float(y), text_anchor=anchor)


def drawing(
    width: float, height: float, name: str, parts: Iterable[str], *, fluid: bool = False, folds: bool = False
) -> str:
    """The chart. `fluid` ones contain no text and fill their column; others keep their drawn width and scroll, except
    those that the style sheet `folds` on a phone: it moves their parts and cuts off the unused width.

    The title names the chart to a screen reader; its first child, so that no id is needed.
    """
    size = {} if fluid else {"width": width, "height": height}
    return tag(
        "svg",
        title(name) + "".join(parts),
        class_="chart folds" if folds else "chart",
        viewBox=f"0 0 {_pixels(width)} {_pixels(height)}",
        role="img",
        aria_label=name,
        preserveAspectRatio="none" if fluid else "xMinYMin slice" if folds else None,
        **size,
    )


def clip(words: str, most: int) -> str:
    """Text cut to `most` characters; the full text belongs in the mark's title."""
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


TOO_FEW = "Too few items."


class DrawnEstimate(NamedTuple):
    """A value with its interval. `open` is drawn hollow.

    `value` None: not defined, for the reason in the sentence `why`. Without an interval `why` has the words instead.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    measure: str = ""
    strong: bool = False
    why: str = ""
    open: bool = False

    @property
    def words(self) -> str:
        name = f"{self.label}, {self.measure}" if self.measure else self.label
        if self.value is None:
            return f"{name}: not defined. {self.why or TOO_FEW}"
        return f"{name}: {number(self.value, 2)}, {self.interval_words()}, n {self.n:,}"

    def interval_words(self, places: int = 2) -> str:
        """The interval, or why there is none."""
        return self.why if self.low is None and self.why else interval((self.low, self.high), places)


def whisker(row: DrawnEstimate, place: Scale, y: float, *, radius: float = 4, class_: str = "point") -> str:
    """The dot at the value, and the interval with end caps when there is one."""
    assert row.value is not None
    parts = []
    if row.low is not None and row.high is not None:
        a, b = place(row.low), place(row.high)
        parts.append(
            tag(
                "path",
                class_="whisker",
                d=f"M{a:.1f} {y:.1f}H{b:.1f}M{a:.1f} {y - 4:.1f}v8M{b:.1f} {y - 4:.1f}v8",
            )
        )
    parts.append(tag("circle", class_=class_, cx=place(row.value), cy=y, r=float(radius)))
    return "".join(parts)


def axis(place: Scale, values: Sequence[float], left: float, right: float, y: float) -> list[str]:
    """A horizontal axis: one line and plain numbers."""
    parts = [tag("path", class_="axis", d=f"M{left:.1f} {y:.1f}H{right:.1f}")]
    parts += [text(place(value), y + 16, plain(value), anchor="middle") for value in values]
    return parts


def grid(up: Scale, labels: Mapping[float, str], left: float, right: float) -> list[str]:
    """Horizontal lines at these values, each with its label at the left."""
    parts = []
    for value, words in labels.items():
        y = up(value)
        parts.append(tag("path", class_="grid", d=f"M{left:.1f} {y:.1f}H{right:.1f}"))
        parts.append(text(left - 8, y + 4, words, anchor="end"))
    return parts


def dot_of(words: str, class_: str, place: Scale, mean: float, ends: tuple[float, float] | None, y: float) -> str:
    """The mean of one of several runs, with its interval as a line without caps."""
    low, high = ends or (mean, mean)
    line = tag("line", class_=class_, x1=place(low), x2=place(high), y1=y, y2=y)
    return tag("g", title(words) + line + tag("circle", class_=class_, cx=place(mean), cy=y, r=4.5))
