"""Checks of a draft that a project sets to warn, to refuse the freeze, or to off. Each says where it is cured."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import BooleanField, Func
from django.urls import reverse

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.common.text.wording import plural
from apps.goldsets.enums import CheckLevel, LeadCheckKind
from apps.goldsets.selectors.assembly import Gathered
from apps.goldsets.selectors.training import lowest_relevant
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.queries.enums import PermissionScope
from apps.queries.models import Permission
from apps.retrieval.models import PoolEntry

MOST_RELEVANT = 3
FEWEST_CONFUSERS = 10
RANKED_HIGH = 20
NAMED = 12
STRATA = (("domain", "Domain"), ("difficulty", "Difficulty"), ("query_type", "Query type"))


class LeadCheck(NamedTuple):
    """What a check found, as a sentence and in number, and the page on which it is cured."""

    kind: LeadCheckKind
    answer: CheckLevel
    sentence: str
    place: str
    found: int


class _Found(NamedTuple):
    sentence: str
    place: str
    found: int


def find_lead_checks(gathered: Gathered) -> list[LeadCheck]:
    """What the checks that are on find, those that refuse first."""
    project = gathered.version.gold_set.project
    found = []
    for kind, look in CHECKS.items():
        answer = answer_to(project, kind)
        if answer is not CheckLevel.OFF:
            found += [LeadCheck(kind, answer, *each) for each in look(gathered)]
    return sorted(found, key=lambda check: check.answer is not CheckLevel.REFUSE)


def answer_to(project: Project, kind: LeadCheckKind) -> CheckLevel:
    return CheckLevel(policy(project, kind))


def _relevant(gathered: Gathered) -> Iterator[_Found]:
    lowest = lowest_relevant(gathered.version.gold_set.project)
    off = {}
    for pairs in gathered.by_query.values():
        relevant = sum(pair.grade >= lowest for pair in pairs)
        if not 1 <= relevant <= MOST_RELEVANT:
            off[pairs[0].query.outside_id] = relevant
    if off:
        yield _Found(
            f"{_queries(off)} no passage graded {lowest} or higher, or more than three: {_counted(off)}.",
            _rounds(gathered),
            len(off),
        )


def _confusers(gathered: Gathered) -> Iterator[_Found]:
    """Passages that a pooled run ranked high and that people graded low."""
    lowest, high = lowest_relevant(gathered.version.gold_set.project), _ranked_high(gathered)
    short = {}
    for query, pairs in gathered.by_query.items():
        ranked_high = high[query]
        confusers = sum(pair.grade < lowest and pair.place.version_id in ranked_high for pair in pairs)
        if confusers < FEWEST_CONFUSERS:
            short[pairs[0].query.outside_id] = confusers
    if short:
        yield _Found(
            f"{_queries(short)} fewer than {FEWEST_CONFUSERS} strong confusers, passages graded below {lowest} that a"
            f" run ranked among its first {RANKED_HIGH}: {_counted(short)}.",
            reverse("retrieval:new-pool", args=[gathered.version.gold_set.project.slug]),
            len(short),
        )


class _IsRankedHigh(Func):
    """Whether one of `[run, rank]` in `found_by` is a high rank: mostly that of the first run is one."""

    template = (
        f"(json_extract(%(expressions)s, '$[0][1]') <= {RANKED_HIGH} OR EXISTS"
        f" (SELECT 1 FROM json_each(%(expressions)s) WHERE json_extract(value, '$[1]') <= {RANKED_HIGH}))"
    )
    output_field = BooleanField()

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"jsonb_path_exists(%(expressions)s, '$[*][1] ? (@ <= {RANKED_HIGH})')"
        return self.as_sql(compiler, connection, template=template, **more)


def _ranked_high(gathered: Gathered) -> defaultdict[int, set[int]]:
    """By query the texts that a run ranked high, of every pool on the snapshot: grades that were imported have a pool
    of their own, which no run made.
    """
    entries = PoolEntry.objects.filter(_IsRankedHigh("found_by"), pool__snapshot=gathered.version.snapshot_id)
    rows = entries.values_list("query_id", "version_id")
    high: defaultdict[int, set[int]] = defaultdict(set)
    for query, version in rows.iterator(chunk_size=5_000):
        high[query].add(version)
    return high


def _strata(gathered: Gathered) -> Iterator[_Found]:
    for field, words in STRATA:
        counts = Counter(str(getattr(query, field)) for query in gathered.queries.values())
        few = {name: count for name, count in counts.items() if name and count < FEWEST_IN_STRATUM}
        if few and len(counts) > 1:
            yield _Found(
                f"{words}: fewer than {FEWEST_IN_STRATUM} queries of {_counted(few)}. A score on so few says little.",
                reverse("queries:balance", args=[gathered.version.gold_set.project.slug]),
                len(few),
            )


def _terms(gathered: Gathered) -> Iterator[_Found]:
    """Sources that may only be used internally, and queries without a source."""
    slug = gathered.version.gold_set.project.slug
    resting: defaultdict[int, list[str]] = defaultdict(list)
    names = {}
    for query in gathered.queries.values():
        if query.source:
            resting[query.source.pk].append(query.outside_id)
            names[query.source.pk] = query.source.name
    for triple in gathered.triples:
        if source := triple.counted_source:
            resting[source.pk].append(triple.label)
            names[source.pk] = source.name
    granted = Permission.objects.filter(source__in=resting, revoked_at=None).values_list("source_id", "scope")
    public = {source for source, scope in granted if scope == PermissionScope.PUBLIC}
    for pk in sorted(resting.keys() - public, key=lambda pk: names[pk]):
        sentence = f"{names[pk]} is not for public use, and this rests on it: {_listed(resting[pk])}."
        yield _Found(sentence, reverse("queries:source", args=[slug, pk]), len(resting[pk]))
    sourceless = [query.outside_id for query in gathered.queries.values() if query.source is None]
    if sourceless:
        yield _Found(
            f"Nothing tells whether these may be used publicly: {_listed(sourceless)}. Name their source.",
            reverse("queries:list", args=[slug]),
            len(sourceless),
        )


CHECKS = {
    LeadCheckKind.RELEVANT: _relevant,
    LeadCheckKind.CONFUSERS: _confusers,
    LeadCheckKind.STRATA: _strata,
    LeadCheckKind.TERMS: _terms,
}


def _rounds(gathered: Gathered) -> str:
    return reverse("judging:index", args=[gathered.version.gold_set.project.slug])


def _queries(counts: Mapping[str, int]) -> str:
    return plural(len(counts), "query has", "queries have")


def _counted(counts: Mapping[str, int]) -> str:
    return _listed([f"{name} ({counts[name]:,})" for name in counts])


def _listed(names: Sequence[str]) -> str:
    names = sorted(names)
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
