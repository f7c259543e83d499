"""Where the graded pairs of a version were returned in traces."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from apps.common.database.bulk import chunks
from apps.common.text.wording import utc_second
from apps.corpus.models import SnapshotBlock
from apps.goldsets.formats.content import GradeRow, TracedGrade
from apps.goldsets.models import Version, VersionQuery
from apps.metrics.by_text.coverage import ReturnedTexts, covering
from apps.querylogs.selectors.logs import traced
from apps.retrieval.execution.passage_location import open_texts

AT_ONCE = 500


class VersionTraces(NamedTuple):
    """The lists of passages that systems returned for the queries of a version, as far as their traces were kept."""

    version: Version

    def of(self, grades: Iterable[GradeRow]) -> Iterator[TracedGrade]:
        """By trace, span and place. Passages are found in the snapshot by their id, or else by their text."""
        graded: dict[str, dict[int, GradeRow]] = {}
        for row in grades:
            graded.setdefault(row.query_id, {})[row.position] = row
        rows = VersionQuery.objects.filter(version=self.version, outside_id__in=list(graded))
        names = dict(rows.values_list("query", "outside_id"))
        lists = list(traced(names))
        located = self._located({(one.get("id", ""), one.get("text", "")) for told in lists for one in told.passages})
        found = {}
        for told in lists:
            of_query = graded[names[told.query]]
            for place, one in zip(told.places, told.passages, strict=True):
                known = [of_query[at] for at in located[one.get("id", ""), one.get("text", "")] if at in of_query]
                if known:
                    best = max(known, key=lambda row: (row.grade, -row.position))
                    key = told.trace, told.span, place
                    found[key] = TracedGrade(*key, told.system, utc_second(told.at), best)
        yield from (found[key] for key in sorted(found))

    def _located(self, passages: set[tuple[str, str]]) -> dict[tuple[str, str], list[int]]:
        """The positions in the snapshot of the passages that each of these holds."""
        by_id: dict[str, int] = {}
        for part in chunks(sorted({name for name, _ in passages if name}), AT_ONCE):
            rows = SnapshotBlock.objects.filter(snapshot=self.version.snapshot_id, block__outside_id__in=part)
            by_id |= dict(rows.values_list("block__outside_id", "position"))
        found = {one: [by_id[one[0]]] if one[0] in by_id else [] for one in passages}
        texts = [one for one in sorted(passages) if not found[one] and one[1]]
        if texts:
            index, numbers = open_texts(self.version.snapshot), np.arange(len(texts))
            returned = ReturnedTexts(numbers, np.zeros_like(numbers), numbers)
            covered = covering(returned, index.locate([text for _, text in texts]), index.block_sizes, len(texts))
            for number, position in zip(covered.query.tolist(), covered.block.tolist(), strict=True):
                found[texts[number]].append(position)
        return found
