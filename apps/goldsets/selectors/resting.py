"""Versions that rest on the grades of a round."""

from apps.goldsets.models import Version
from apps.judging.models import Round


def version_resting_on(round_: Round) -> str | None:
    """The version that has this round, as a reason against withdrawing its grades; None when there is none."""
    version = Version.objects.filter(rounds=round_).select_related("gold_set").order_by("-number", "pk").first()
    if version is None:
        return None
    if version.is_draft:
        return f"The draft {version} has its grades. Take the round out of the draft first."
    return f"{version} has its grades, and a frozen version never changes. The next version can leave the round out."
