"""The questions of a version: its queries, and those of its Q&As, as queries that a system can answer."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Q

from apps.accounts.models import Project
from apps.goldsets.enums import VersionState
from apps.goldsets.models import GoldSet, Version, VersionQuery, VersionTriple
from apps.goldsets.selectors.versions import gold_sets_of
from apps.queries.models import Query
from apps.retrieval.selectors.question_sets import QuestionSet
from apps.triples.models import AskedRevision
from apps.triples.selectors.triples import accepted_triples

KEY = re.compile(r"(?P<slug>[-\w]{1,60})(?:/v(?P<number>[0-9]{1,8}))?")
"""How a set of questions is written: `handbook/v1` for those of a version, `handbook` for what is there now."""


class VersionQuestion(NamedTuple):
    """A question as systems are asked it."""

    query_id: int
    outside_id: str
    text: str


def questions_of(version: Version) -> list[VersionQuestion]:
    """The queries of a version and the questions of its Q&As, each query once, by outside id.

    Those of a draft are what it would hold now: the queries that its rounds judge, and the accepted Q&As. The words of
    a version come before those that a query has now.
    """
    rows = Query.everything.filter(condition_of(version)).values_list("pk", "outside_id", "text")
    frozen = VersionQuery.objects.filter(version=version).values_list("query_id", "outside_id", "text")
    once = {row[0]: VersionQuestion(*row) for row in [*rows, *frozen]}
    return sorted(once.values(), key=lambda question: question.outside_id)


def newest_version(gold_set: GoldSet) -> Version | None:
    return gold_set.versions.select_related("gold_set__project", "snapshot").order_by("-number").first()


def condition_of(version: Version) -> Q:
    """The condition for the queries of `questions_of`."""
    if version.is_draft:
        accepted = accepted_triples(version.gold_set.project, version.snapshot)
        asked = AskedRevision.objects.filter(revision__in=accepted.values("current"))
        queries = Q(pk__in=version.rounds.values("pool__pool_queries__query"), retired_at=None)
    else:
        included = VersionTriple.objects.filter(version=version)
        asked = AskedRevision.objects.filter(revision__in=included.values("revision"))
        queries = Q(pk__in=VersionQuery.objects.filter(version=version).values("query"))
    return queries | Q(pk__in=asked.values("query"))


def sets_offered(project: Project) -> list[QuestionSet]:
    """The sets of questions of a project that runs can be made on."""
    return [one for gold_set in gold_sets_of(project) for one in _sets_of(gold_set, list(gold_set.versions.all()))]


def _sets_of(gold_set: GoldSet, versions: list[Version]) -> Iterable[QuestionSet]:
    for version in versions:
        version.gold_set = gold_set
        if not version.is_draft:
            yield _set_of(version)
    if versions:
        yield _present(versions[0])


def _set_of(version: Version) -> QuestionSet:
    gold_set = version.gold_set
    name = f"questions of {gold_set.name} {version.label}, whose snapshot is {version.snapshot.name}"
    return QuestionSet(f"{gold_set.slug}/{version.label}", name, condition_of(version))


def _present(newest: Version) -> QuestionSet:
    gold_set = newest.gold_set
    return QuestionSet(gold_set.slug, f"questions of {gold_set.name} as it is now", condition_of(newest))


def set_named(project: Project, key: str) -> QuestionSet | None:
    """The set with this key, None where there is none."""
    if not (match := KEY.fullmatch(key)):
        return None
    slug, number = match["slug"], match["number"]
    gold_set = GoldSet.objects.filter(project=project, slug=slug).select_related("project").first()
    if gold_set is None:
        return None
    if number is None:
        version = newest_version(gold_set)
        return _present(version) if version else None
    frozen = gold_set.versions.exclude(state=VersionState.DRAFT).select_related("gold_set__project", "snapshot")
    version = frozen.filter(number=int(number)).first()
    return _set_of(version) if version else None
