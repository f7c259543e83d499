"""Icons on a 16 by 16 grid, and the glyph of each state word."""

from typing import NamedTuple

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
    "unknown": Glyph(_DOTTED, "not known"),
    "nothing": Glyph(_RING, "nothing checked"),
}
