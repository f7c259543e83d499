"""What a monitor watches of reviews, for all projects together."""

from datetime import datetime

from django.db.models import Max

from apps.common.web.exposition import Metric, counter
from apps.review.models import Verdict


def verdict_metrics(at: datetime) -> list[Metric]:
    """The highest number of a verdict, as of grades: none is ever deleted."""
    highest = Verdict.objects.aggregate(highest=Max("pk"))["highest"] or 0
    return [counter("karat_verdicts_total", "Verdicts ever stored.", highest)]
