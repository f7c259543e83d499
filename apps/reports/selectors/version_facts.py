"""What the report of a version tells beside its questions and scores, in one statement."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef

from apps.common.database.questions import CountOf, ListOf, Question, answer_to, joined
from apps.evaluation.selectors.expected import flags_before_freeze
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.training import RELEVANT_FROM, LiveManifest, live_manifests_question
from apps.goldsets.selectors.versions import revoked_question


@dataclass(frozen=True)
class VersionFacts:
    """`revoked` are sources whose permission was revoked, `manifests` the training manifests in use now.

    `flags` are the categories of the flags before the freeze, by key of the triple. `documents` have a passage that is
    graded above 0, by their outside ids. `losses` are kind, reason and number of what was judged and left out.
    """

    revoked: list[int]
    manifests: list[LiveManifest]
    flags: dict[int, set[str]]
    documents: set[str]
    losses: list[tuple[str, str, int]]


def lowest_relevant_of(version: Version) -> int:
    """The lowest relevant grade of a frozen version, as the checks before a freeze have it."""
    return min(RELEVANT_FROM, max(entry["grade"] for entry in version.manifest["scale"]))


def counted_queries(version: Version) -> list[VersionQuery]:
    """The queries of both splits by outside id. Annotates `graded` and `relevant`, the numbers of such passages."""
    grades = VersionGrade.objects.filter(query=OuterRef("pk")).values("pk")
    relevant = grades.filter(grade__gte=lowest_relevant_of(version))
    rows = VersionQuery.objects.filter(version=version).annotate(graded=CountOf(grades), relevant=CountOf(relevant))
    return sorted(rows, key=lambda row: row.outside_id.encode())


def facts_of(version: Version, *, at: datetime) -> VersionFacts:
    losses = version.losses.values("kind", "reason").annotate(n=Count("pk")).order_by("kind", "reason")
    graded = VersionGrade.objects.filter(version=version, grade__gt=0)
    documents = graded.values_list("block_version__block__document__outside_id").distinct()
    asked: dict[str, Question[Any]] = {
        "revoked": revoked_question(version, at=at),
        "manifests": live_manifests_question(version.gold_set.project),
        "flags": _flags(version),
        "documents": Question({"ids": ListOf(documents)}, lambda found: {name for (name,) in found["ids"]}),
        "losses": Question({"rows": ListOf(losses)}, lambda found: [(*row,) for row in found["rows"]]),
    }
    return VersionFacts(**answer_to(version, joined(asked)))


def _flags(version: Version) -> Question[dict[int, set[str]]]:
    flags = flags_before_freeze(version).filter(revision__triple__in=version.triples.values("triple"))

    def read(found: Mapping[str, Any]) -> dict[int, set[str]]:
        by_triple: defaultdict[int, set[str]] = defaultdict(set)
        for triple, category in found["rows"]:
            by_triple[triple].add(category)
        return dict(by_triple)

    return Question({"rows": ListOf(flags.values_list("revision__triple", "category").distinct())}, read)
