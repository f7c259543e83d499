"""What runs can be scored against on a version: grades, Q&As by hit rules, and by which of these some were scored."""

from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q

from apps.common.database.questions import once
from apps.goldsets.models import Version, VersionGrade, VersionTriple


class Grounds(NamedTuple):
    """`scored` has the number of evaluations by each hit rule on each split; "" are grades, and both splits."""

    has_grades: bool
    has_triples: bool
    scored: dict[tuple[str, str], int]

    @property
    def hits(self) -> list[str]:
        """The hit rules by which runs were scored, sorted; "" where some were by grades."""
        return sorted({hit for hit, _ in self.scored})

    def splits(self, hit: str) -> list[str]:
        """The splits on which runs were scored by grades or by a hit rule."""
        return [split for by, split in self.scored if by == hit]


def grounds_of(version: Version) -> Grounds:
    """In one statement, and once for all parts of a page. Without the evaluations on slices."""
    return once(("grounds", version.pk), lambda: _grounds_of(version))


def _grounds_of(version: Version) -> Grounds:
    scored = Version.objects.filter(pk=version.pk).values("evaluations__hit", "evaluations__split")
    rows = scored.annotate(
        n=Count("evaluations", filter=Q(evaluations__slice=None)),
        has_grades=Exists(VersionGrade.objects.filter(version=OuterRef("pk"))),
        has_triples=Exists(VersionTriple.objects.filter(version=OuterRef("pk"))),
    ).values_list("evaluations__hit", "evaluations__split", "n", "has_grades", "has_triples")
    found = list(rows)
    return Grounds(found[0][3], found[0][4], {(hit, split): n for hit, split, n, *_ in found if n})
