"""Agreement in one sentence: is it good enough? Plain values."""

from apps.common.text.wording import count, interval, number
from apps.metrics.estimate import Estimate

BAR = 0.6
"""The band of κ and α above which agreement is acceptable."""
NO_PAIR = "No pair has two grades."


def verdict_of(figure: Estimate, who: str = "annotators", items: str = "pairs") -> str:
    """Yes, not yet, perhaps or not known, with the figure, its interval and the bar."""
    if figure.value is None:
        reason = figure.reason or NO_PAIR
        return f"Not known yet: {reason[0].lower()}{reason[1:]}"
    value = number(figure.value, 2)
    if figure.interval is None:
        return (
            f"Not known yet: {count(figure.n)} {items} are too few to tell how far {who} agree; so far it is {value}."
        )
    at = f"{who} agree at {value}, {interval(figure.interval)}"
    if figure.value < BAR:
        return f"Not yet: {at}. The bar is {BAR}."
    if figure.interval[0] < BAR:
        return f"Perhaps: {at}. The bar of {BAR} lies inside, so more pairs judged twice would settle it."
    return f"Yes: {at}. The bar is {BAR}."
