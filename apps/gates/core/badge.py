"""The badge: an SVG with the state of gates. It contains no names, since anybody with its address sees it."""

from __future__ import annotations

from collections.abc import Sequence

from apps.common.drawing.svg import tag, title
from apps.gates.core.decisions import worst_state
from apps.gates.core.rule import FAILED, NOTHING, PASSED, UNKNOWN

HEIGHT = 20
PADDING = 8
LETTER = 6.6
RADIUS = 3
LABEL = "gates"
# Fixed colours: the badge is shown on other sites, light or dark. The contrast of white on each is above 4.5 to 1.
GROUND = "#484b51"
GROUNDS = {PASSED: "#00634d", FAILED: "#a8261b", UNKNOWN: "#62656b", NOTHING: "#62656b"}
UNDECIDED = {UNKNOWN: "not known yet", NOTHING: "nothing checked"}


def words_of(states: Sequence[str]) -> str:
    """ "3 of 3 passed" or "1 of 3 failed"; what else they come to in words, without numbers."""
    state = worst_state(states)
    return UNDECIDED.get(state) or f"{sum(one == state for one in states)} of {len(states)} {state}"


def badge(states: Sequence[str]) -> str:
    """The badge of these gates as SVG, `HEIGHT` pixels high; the width follows the words."""
    words = words_of(states)
    left, right = _width(LABEL), _width(words)
    name = f"{LABEL.capitalize()}: {words}"
    parts = [
        title(name),
        tag("rect", width=left + right, height=HEIGHT, rx=RADIUS, fill=GROUND),
        tag("path", fill=GROUNDS[worst_state(states)], d=_right_half(left, left + right)),
        _text(LABEL, left / 2, left),
        _text(words, left + right / 2, right),
    ]
    return tag(
        "svg",
        "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        width=left + right,
        height=HEIGHT,
        role="img",
        aria_label=name,
    )


def _width(words: str) -> float:
    return round(len(words) * LETTER) + 2.0 * PADDING


def _right_half(start: float, end: float) -> str:
    """The right part of the rounded box: square on the left, round on the right."""
    edge, low = end - RADIUS, HEIGHT - RADIUS
    return f"M{start:.0f} 0H{edge:.0f}q{RADIUS} 0 {RADIUS} {RADIUS}V{low}q0 {RADIUS} -{RADIUS} {RADIUS}H{start:.0f}z"


def _text(words: str, middle: float, width: float) -> str:
    """Text of a fixed length (`textLength`), so that it fits in any font of the reader."""
    return tag(
        "text",
        words,
        x=middle,
        y=14.0,
        fill="#fff",
        font_family="Verdana, DejaVu Sans, sans-serif",
        font_size=11,
        text_anchor="middle",
        textLength=width - 2 * PADDING,
        lengthAdjust="spacingAndGlyphs",
    )
