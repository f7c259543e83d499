"""How long judging takes, in words."""

from typing import NamedTuple

MINUTE_MS = 60_000


class TimePerPair(NamedTuple):
    """Milliseconds that a pair takes one person after the other, from `low` to `high`."""

    low: float
    high: float

    def of(self, pairs: int) -> str:
        """ "about 3 h 20 min", "2 h to 3 h 10 min"; empty for no pairs."""
        if not pairs:
            return ""
        low, high = (_words(pairs * each) for each in self)
        return f"about {low}" if low == high else f"{low} to {high}"


def _words(milliseconds: float) -> str:
    minutes = max(1, int(milliseconds / MINUTE_MS + 0.5))
    hours, rest = divmod(minutes, 60)
    return " ".join(part for part in (f"{hours:,} h" if hours else "", f"{rest} min" if rest else "") if part)
