"""What runs can be scored against on a version: grades, Q&As by hit rules, and by which of these some were scored."""

from typing import NamedTuple

from django.db.models import Count, Exists

from apps.common.database.questions import ListOf, Question, answer_to, once
from apps.evaluation.models import Evaluation
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade, VersionTriple


class Grounds(NamedTuple):
    """What is there, in any split and in dev, and what was scored.

    `scored` has the number of evaluations by each hit rule on each split; "" are grades, and both splits.
    """

    has_grades: bool
    has_triples: bool
    has_dev_grades: bool
    has_dev_triples: bool
    scored: dict[tuple[str, str], int]

    @property
    def hits(self) -> list[str]:
        """The hit rules by which runs were scored, sorted; "" where some were by grades."""
        return sorted({hit for hit, _ in self.scored})

    def splits(self, hit: str) -> list[str]:
        """The splits on which runs were scored by grades or by a hit rule."""
        return [split for by, split in self.scored if by == hit]

    def has_test_alone(self, hit: str) -> bool:
        """Whether all that runs can be scored on, by grades or by a hit rule, is in test."""
        if hit:
            return self.has_triples and not self.has_dev_triples
        return self.has_grades and not self.has_dev_grades


def grounds_of(version: Version) -> Grounds:
    """In one statement, and once for all parts of a page. Without the evaluations on slices."""
    return once(("grounds", version.pk), lambda: _grounds_of(version))


def _grounds_of(version: Version) -> Grounds:
    grades = VersionGrade.objects.filter(version=version)
    triples = VersionTriple.objects.filter(version=version)
    scored = Evaluation.objects.filter(version=version, slice=None).order_by("hit", "split").values("hit", "split")
    asked: Question[Grounds] = Question(
        {
            "scored": ListOf(scored.annotate(n=Count("pk")).values_list("hit", "split", "n")),
            "has_grades": Exists(grades),
            "has_triples": Exists(triples),
            "has_dev_grades": Exists(grades.filter(query__split=Split.DEV)),
            "has_dev_triples": Exists(triples.filter(split=Split.DEV)),
        },
        lambda found: Grounds(**{**found, "scored": {(hit, split): n for hit, split, n in found["scored"]}}),
    )
    return answer_to(version, asked)
