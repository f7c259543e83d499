"""The passages of a version that people judged not relevant: negatives that are known."""

from __future__ import annotations

from django.db.models import Count

from apps.common.text.wording import count
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade
from apps.reports.core.document import Block, Table


def negative_blocks(version: Version) -> list[Block]:
    found = VersionGrade.objects.filter(query__version=version, grade=0)
    by_split = dict(found.values_list("query__split").annotate(n=Count("pk")).order_by("query__split"))
    rows = [[str(split), count(by_split.get(split, 0))] for split in Split.values]
    return [Table("Judged and not relevant", ["Split", "Pairs of grade 0"], rows)] if by_split else []
