"""Drawings of the pages of a corpus."""

from typing import Any

from django.utils.safestring import SafeString

from apps.common.drawing.charts import figures, svg
from apps.common.drawing.svg import tag, text, title

WIDTH, BOTTOM, TOP = 264.0, 94.0, 16.0
GAP = 2.0
FEW_WORDS = 25
"""Passages below this are mostly headings and lists of links: worth a look."""
HIGHEST_LABEL = 5


def lengths(found: dict[str, Any]) -> SafeString:
    """The lengths of passages as a histogram. Its ends, where passages are short or long, are gold."""
    bins = found["bins"]
    step = WIDTH / len(bins)
    top = max(each["passages"] for each in bins)
    parts = []
    for place, each in enumerate(bins):
        height = (BOTTOM - TOP) * each["passages"] / top
        is_end = each["to"] is None or (each["to"] or 0) <= FEW_WORDS
        parts.append(
            tag(
                "rect",
                title(f"{_words(each)}: {each['passages']:,}"),
                class_="b" if is_end else "bar-fill",
                x=place * step,
                y=BOTTOM - height,
                width=max(1.0, step - GAP),
                height=height,
            )
        )
    parts.append(tag("path", class_="axis", d=f"M0 {BOTTOM + 0.5:.1f}H{WIDTH:.0f}"))
    parts += _median(found, step)
    parts += _labels(bins, step)
    name = f"Length of {found['passages']:,} passages in words; half have at most {found['median']:,}"
    return svg(WIDTH, BOTTOM + 24, name, parts)


def length_figures(found: dict[str, Any]) -> SafeString:
    return figures(["Words", "Passages"], [[_words(each), f"{each['passages']:,}"] for each in found["bins"]])


def _words(each: dict[str, Any]) -> str:
    if each["to"] is None:
        return f"{each['from']:,} words and more"
    return f"{each['from']:,} to {each['to'] - 1:,} words"


def _median(found: dict[str, Any], step: float) -> list[str]:
    width = found["bins"][0]["to"] or 1
    x = min(found["median"] / width, len(found["bins"])) * step
    words = f"half have at most {found['median']:,}"
    is_left = x > WIDTH / 2
    label = text(x - 5 if is_left else x + 5, 11, words, anchor="end" if is_left else None, class_="halo word")
    return [tag("path", class_="limit", d=f"M{x:.1f} 2V{BOTTOM:.0f}"), label]


def _labels(bins: list[dict[str, Any]], step: float) -> list[str]:
    """The lower ends of some bins under the axis, the last with its unit."""
    every = max(1, -(-len(bins) // HIGHEST_LABEL))
    places = [place for place in range(0, len(bins), every) if place * step < WIDTH - 90]
    marks = [text(place * step, BOTTOM + 16, f"{bins[place]['from']:,}") for place in places]
    last = bins[-1]
    end = f"{last['from']:,}+ words" if last["to"] is None else f"{last['to']:,} words"
    return [*marks, text(WIDTH, BOTTOM + 16, end, anchor="end")]
