"""The hard negatives of a version: how many, how they were found, and what they do to scores."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Count

from apps.common.text.wording import count
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade
from apps.reports.core.document import Block, Paragraph, Table
from apps.reports.core.negative_parts import MeasuredSplit, negative_parts
from apps.reports.models import NegativesReport
from apps.reports.selectors.analyses import latest_negatives

NOT_MEASURED = (
    "What they do to scores has not been measured: a lead can start that under Training negatives of the version."
)


def negative_blocks(version: Version) -> list[Block]:
    """From the newest measurement of each split; until there is one, the number of pairs judged not relevant."""
    measured = measured_splits(latest_negatives(version))
    return list(negative_parts(measured)) if measured else _counted(version)


def measured_splits(reports: Mapping[str, NegativesReport]) -> list[MeasuredSplit]:
    return [
        MeasuredSplit(split, report.baseline.tag, report.depth, report.result)
        for split in Split.values
        if (report := reports.get(split))
    ]


def _counted(version: Version) -> list[Block]:
    found = VersionGrade.objects.filter(query__version=version, grade__lte=0)
    by_split = dict(found.values_list("query__split").annotate(n=Count("pk")).order_by("query__split"))
    if not by_split:
        return []
    rows = [[str(split), count(by_split.get(split, 0))] for split in Split.values]
    return [Table("Judged and not relevant", ["Split", "Pairs judged not relevant"], rows), Paragraph(NOT_MEASURED)]
