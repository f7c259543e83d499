"""Reads of queries and sources, all scoped to one project, and the checks of queries that come into it."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, reduce
from operator import or_
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, Count, F, Func, IntegerField, Max, Prefetch, Q, QuerySet, When
from django.db.models.functions import Substr
from django.http import Http404

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.common.database.bulk import chunks
from apps.common.text.words import words
from apps.corpus.models import SnapshotBlock
from apps.corpus.selectors.search import latest_snapshots, search_latest
from apps.queries.core.bulk_changes import BulkChange, BulkPreview, preview
from apps.queries.core.checks import (
    MOST_COMPARED,
    ComparedWith,
    LikeIndex,
    Other,
    Passage,
    Remark,
    RunIndex,
    check_query,
    language_of,
    probe_words,
    usual_languages,
)
from apps.queries.core.naming import VARIANT, VARIANT_OF, QueryNames
from apps.queries.core.strata import BALANCED, TYPED
from apps.queries.core.stratified import Candidate, draw
from apps.queries.core.variants import Known, degraded, pairs_in
from apps.queries.enums import CheckEffect, QueryCheck, VariantKind
from apps.queries.models import SET_PREFIX, FailureReport, Permission, Query, SavedSet, SetMember, Source

OF_COLUMNS = {"source": F("source__name"), "group": F("group_key"), "asked_in": Substr("asked_on", 1, 4)}


def stratum_values(queries: QuerySet[Query], name: str) -> dict[int, str]:
    """The stratum of each of the queries, by key; "" for none."""
    return dict(queries.annotate(stratum=OF_COLUMNS.get(name, F(name))).values_list("pk", "stratum"))


STRATUM_COLUMNS = ("source__slug", *BALANCED[1:])


class QueryFilters(NamedTuple):
    """The filters of a list of queries. `source` is a slug or NO_SOURCE, `state` one of STATES.

    `remarks` is a `QueryCheck` with an open remark, or ANY_REMARK.
    """

    text: str = ""
    state: str = "live"
    source: str = ""
    difficulty: str = ""
    domain: str = ""
    query_type: str = ""
    expertise: str = ""
    answer_format: str = ""
    remarks: str = ""


ANY_REMARK = "any"
"""The filter value for queries with an open remark of any check."""
NO_SOURCE = "~"
"""The filter value for queries without a source; no slug contains this sign."""

STATES = {"live": "live", "used": "used", "retired": "retired", "all": "all"}


def queries_in(project: Project) -> QuerySet[Query]:
    return Query.objects.filter(project=project).select_related("source").order_by("outside_id")


def live_queries(project: Project) -> QuerySet[Query]:
    """Queries that are not retired, from which runs, pools and versions are made."""
    return queries_in(project).filter(retired_at=None)


def query_in(project: Project, pk: int) -> Query:
    try:
        return queries_in(project).select_related("created_by").get(pk=pk)
    except Query.DoesNotExist:
        raise Http404("No such query.") from None


def names_in(project: Project) -> QueryNames:
    """The ids and texts of all queries of the project, retired ones too: their ids stay taken."""
    return QueryNames(Query.objects.filter(project=project).order_by("outside_id").values_list("outside_id", "text"))


def source_slugs(project: Project) -> dict[str, str]:
    """The slugs of the project's sources, by name and by slug in small letters."""
    found = Source.objects.filter(project=project).values_list("slug", "name")
    return {key.casefold(): slug for slug, name in found for key in (name, slug)}


def keys_of(project: Project, outside_ids: Iterable[str]) -> dict[str, int]:
    """Keys by outside id, without ids that are not queries of the project."""
    keys: dict[str, int] = {}
    for part in chunks(outside_ids, 500):
        rows = Query.objects.filter(project=project, outside_id__in=part)
        keys.update(rows.values_list("outside_id", "pk"))
    return keys


def narrowed(queries: QuerySet[Query], filters: QueryFilters) -> QuerySet[Query]:
    return queries.filter(matching(filters))


def matching(filters: QueryFilters) -> Q:
    """The filters as a condition on queries."""
    found = Q()
    if filters.state in {"live", "used"}:
        found &= Q(retired_at=None)
    if filters.state == "used":
        found &= Q(locked_at__isnull=False)
    elif filters.state == "retired":
        found &= Q(retired_at__isnull=False)
    if filters.source == NO_SOURCE:
        found &= Q(source=None)
    elif filters.source:
        found &= Q(source__slug=filters.source)
    for name in ("difficulty", *TYPED):
        if value := getattr(filters, name):
            found &= Q(**{name: value})
    if filters.remarks == ANY_REMARK:
        found &= ~Q(remarks={})
    elif filters.remarks:
        found &= Q(remarks__has_key=filters.remarks)
    if filters.text:
        words = Q(text__icontains=filters.text) | Q(outside_id__icontains=filters.text)
        found &= words | Q(label__icontains=filters.text)
    return found


def sets_in(project: Project) -> QuerySet[SavedSet]:
    """The query sets of the project, by name."""
    return (
        SavedSet.objects.filter(project=project)
        .select_related("project", "created_by", "frozen_by")
        .order_by("name", "pk")
    )


def set_in(project: Project, pk: int) -> SavedSet:
    try:
        return sets_in(project).get(pk=pk)
    except SavedSet.DoesNotExist:
        raise Http404("No such query set.") from None


def set_with_key(project: Project, key: str) -> SavedSet | None:
    """The set that runs and pools name so, such as `set:pilot`; None where there is none."""
    return sets_in(project).filter(slug=key.removeprefix(SET_PREFIX)).first() if key.startswith(SET_PREFIX) else None


def queries_of_set(saved: SavedSet) -> QuerySet[Query]:
    """The queries of a set, by id: those on its list, retired ones too, or those that match its filter now."""
    queries = queries_in(saved.project)
    if saved.is_frozen:
        return queries.filter(pk__in=SetMember.objects.filter(saved_set=saved).values("query"))
    return narrowed(queries, filters_of(saved))


def frozen_query_ids(project_id: int, key: str) -> QuerySet[SetMember, int]:
    """The keys of the queries on the list of the frozen set with this key, for a condition."""
    members = SetMember.objects.filter(saved_set__project=project_id, saved_set__slug=key.removeprefix(SET_PREFIX))
    return members.values_list("query", flat=True)


def filters_of(saved: SavedSet) -> QueryFilters:
    return QueryFilters(**saved.filters)


class SetSize(NamedTuple):
    """How many queries a set has, of them not retired, and not retired and no variant: those that people judge."""

    queries: int
    live: int
    judged: int


def sizes_of_sets(sets: Collection[SavedSet]) -> dict[int, SetSize]:
    """The sizes of sets of one project, by key, in two statements."""
    lists = SetMember.objects.filter(saved_set__in=[one for one in sets if one.is_frozen])
    counted_lists = lists.values("saved_set").annotate(**_sizes(Q(), "query__")).order_by()
    found = {pk: SetSize(*counts) for pk, *counts in counted_lists.values_list("saved_set", *SetSize._fields)}
    if filtered := [one for one in sets if not one.is_frozen]:
        counts = {
            f"of{one.pk}_{name}": count for one in filtered for name, count in _sizes(matching(filters_of(one))).items()
        }
        counted = Query.objects.filter(project=filtered[0].project_id).aggregate(**counts)
        found |= {one.pk: SetSize(*(counted[f"of{one.pk}_{name}"] for name in SetSize._fields)) for one in filtered}
    return found


def _sizes(condition: Q, of: str = "") -> dict[str, Count]:
    live = condition & Q(**{f"{of}retired_at": None})
    judged = live & ~Q(**{f"{of}metadata__has_key": VARIANT_OF})
    return {
        name: Count("pk", filter=each) for name, each in zip(SetSize._fields, (condition, live, judged), strict=True)
    }


def drawn_queries(project: Project, of: SavedSet | None, number: int, seed: int) -> list[int]:
    """The keys of a sample of so many queries by source, type, difficulty and domain, from a set or from all.

    Retired queries and variants are in no sample.
    """
    queries = queries_in(project) if of is None else queries_of_set(of)
    rows = queries.filter(retired_at=None).exclude(metadata__has_key=VARIANT_OF)
    keys, candidates = dict[str, int](), []
    for pk, name, source, *strata in rows.values_list("pk", "outside_id", *STRATUM_COLUMNS):
        keys[name] = pk
        candidates.append(Candidate(name, (source or "", *strata)))
    return [keys[name] for name in draw(candidates, number, seed=str(seed))]


def preview_of(project: Project, query_ids: Iterable[int], change: BulkChange) -> BulkPreview:
    """What the change does to those of the queries that are not retired."""
    live = live_queries(project)
    rows = (
        {name: getattr(query, name) for name in change.fields}
        for part in chunks(sorted(query_ids), 500)
        for query in live.filter(pk__in=part)
    )
    return preview(rows, change)


class NewVariant(NamedTuple):
    """A variant that could be added to an original query."""

    original: Query
    kind: VariantKind
    text: str

    @property
    def key(self) -> str:
        """What a form calls it."""
        return f"{self.original.pk}-{self.kind}"


def new_variants(project: Project, query_ids: Collection[int], kinds: Collection[str], seed: int) -> list[NewVariant]:
    """The variants of these kinds that the queries do not have yet, by query and kind.

    Retired queries and variants get none; nor does a query whose degraded wording is its own or another variant's.
    """
    language, *others = usual_languages(languages_of(project)) or [""]
    terms, acronyms = (pairs_in(policy(project, name)) for name in ("terms", "acronyms"))
    known = Known(acronyms, terms, "" if others else language)
    made: defaultdict[str, set[str]] = defaultdict(set)
    variants = Query.objects.filter(project=project, metadata__has_key=VARIANT_OF)
    for facts, text in variants.values_list("metadata", "text"):
        made[str(facts[VARIANT_OF])] |= {str(facts.get(VARIANT, "")), text}
    originals = live_queries(project).exclude(metadata__has_key=VARIANT_OF)
    found = []
    for part in chunks(sorted(query_ids), 500):
        for query in originals.filter(pk__in=part):
            has = made[query.outside_id]
            for kind in VariantKind:
                is_new = kind in kinds and str(kind.label) not in has
                text = degraded(query.text, kind, seed, known) if is_new else ""
                if text and text not in has:
                    found.append(NewVariant(query, kind, text))
                    has.add(text)
    return found


def choices_in(project: Project) -> dict[str, list[str]]:
    """The existing values of each stratum that is free words, for the filter's lists."""
    rows = list(Query.objects.filter(project=project).order_by().values_list(*TYPED).distinct())
    return {name: sorted({row[place] for row in rows} - {""}) for place, name in enumerate(TYPED)}


def reports_in(project: Project) -> QuerySet[FailureReport]:
    """Reports of searches that went wrong, oldest first."""
    reports = FailureReport.objects.filter(project=project).select_related("reported_by", "decided_by", "query")
    return reports.order_by("reported_at", "pk")


def report_in(project: Project, pk: int) -> FailureReport:
    try:
        return reports_in(project).get(pk=pk)
    except FailureReport.DoesNotExist:
        raise Http404("No such report.") from None


def sources_in(project: Project) -> QuerySet[Source]:
    """By name, with `live_count` queries and their permissions, newest first, as `permissions.all()`."""
    newest_first = Permission.objects.select_related("revoked_by").order_by("-granted_at", "-pk")
    sources = Source.objects.filter(project=project).prefetch_related(Prefetch("permissions", newest_first))
    live = Count("queries", filter=Q(queries__retired_at=None))
    return sources.annotate(live_count=live).order_by("name", "pk")


def lock_sources(project: Project) -> None:
    """Keep the permissions of a project from being revoked until the transaction ends."""
    sources = Source.objects.select_for_update(no_key=True).filter(project=project)
    list(sources.order_by("pk").values_list("pk", flat=True))


def source_in(project: Project, pk: int) -> Source:
    try:
        return sources_in(project).get(pk=pk)
    except Source.DoesNotExist:
        raise Http404("No such source.") from None


def permission_in(project: Project, pk: int) -> Permission:
    try:
        return Permission.objects.select_related("source").get(source__project=project, pk=pk)
    except Permission.DoesNotExist:
        raise Http404("No such permission.") from None


def valid_permission(source: Source, at: datetime) -> Permission | None:
    """The source's latest permission that is neither revoked nor expired at this time."""
    valid = [
        permission
        for permission in source.permissions.all()
        if permission.revoked_at is None and (permission.expires_at is None or permission.expires_at > at)
    ]
    return max(valid, key=lambda permission: (permission.granted_at, permission.pk), default=None)


REASONS = {0: "has no permission", 1: "had its permission revoked", 2: "has an expired permission"}
REVOKED, VALID = 1, 3


def closest_permission(at: datetime) -> Max:
    """An annotation of sources: VALID, or the key of the reason against using one, the closest to a permission."""
    closest = Case(
        When(permissions__revoked_at__isnull=False, then=REVOKED),
        When(permissions__expires_at__lte=at, then=2),
        When(permissions__isnull=False, then=VALID),
        default=0,
        output_field=IntegerField(),
    )
    return Max(closest)


def permission_reasons(sources: Iterable[Source], *, at: datetime) -> dict[int, str]:
    """Why a source may not be used, by its key; sources with a valid permission are left out.

    The reason is the closest to a permission: an expired one, else a revoked one, else none.
    """
    return _reasons(Source.objects.filter(pk__in=[source.pk for source in sources]), at)


def revoked_among(sources: Iterable[int], *, at: datetime) -> set[int]:
    """Those of the sources, given by their keys, whose permission was revoked and that have no valid one."""
    known = Source.objects.filter(pk__in=set(sources)).annotate(closest=closest_permission(at))
    return set(known.filter(closest=REVOKED).values_list("pk", flat=True))


def lost_permissions(project: Project, *, at: datetime) -> dict[int, str]:
    """Sources of the project that may not be used any more, with the reason; not those that never had a permission."""
    found = _reasons(Source.objects.filter(project=project).order_by("slug"), at)
    return {pk: reason for pk, reason in found.items() if reason != REASONS[0]}


def _reasons(sources: QuerySet[Source], at: datetime) -> dict[int, str]:
    rows = sources.annotate(permitted=closest_permission(at)).values_list("pk", "permitted")
    return {pk: REASONS[permitted] for pk, permitted in rows if permitted in REASONS}


FAILURE = "failure:"
"""What the tag of a failure mode begins with, such as `failure:acronym`."""


class StratumCount(NamedTuple):
    """So many queries or Q&As of one combination; "" where a property is not set. `source` is a slug."""

    source: str
    query_type: str
    difficulty: str
    domain: str
    failures: tuple[str, ...]
    number: int


def stratum_counts(project: Project) -> tuple[list[StratumCount], int]:
    """The live queries by combination, without variants; and how many variants there are."""
    live = Query.objects.filter(project=project, retired_at=None).order_by()
    originals = live.exclude(metadata__has_key=VARIANT_OF)
    rows = originals.values_list(*STRATUM_COLUMNS, "tags").annotate(number=Count("pk"))
    return [stratum_count(*row) for row in rows], live.filter(metadata__has_key=VARIANT_OF).count()


def stratum_count(
    source: str | None, query_type: str, difficulty: str, domain: str, tags: Sequence[str] | None, number: int
) -> StratumCount:
    failures = tuple(tag.removeprefix(FAILURE) for tag in tags or () if tag.startswith(FAILURE))
    return StratumCount(source or "", query_type or "", difficulty or "", domain or "", failures, number)


CountTriples = Callable[[Project], list[StratumCount]]
_counts_of_triples: list[CountTriples] = []


def count_triples_with(counts: CountTriples) -> None:
    """How many Q&As there are of each kind: the app that has them says it, since this one does not know of it."""
    if counts not in _counts_of_triples:
        _counts_of_triples.append(counts)


def triple_counts(project: Project) -> list[StratumCount]:
    """The Q&As that have not ended by combination; what one does not say itself its query says."""
    return [row for counts in _counts_of_triples for row in counts(project)]


def triples_by_source(project: Project) -> Counter[str]:
    """How many Q&As that have not ended count for each source, by its slug; "" for those that have no source."""
    total: Counter[str] = Counter()
    for row in triple_counts(project):
        total[row.source] += row.number
    return total


SHORT = 3


def worded_like(rows: QuerySet[Any], column: str, text: str, limit: float, *, then: str) -> QuerySet[Any]:
    """The rows whose column may be as similar to a text as `limit`: at most `MOST_COMPARED`, likely ones first.

    Every text that is so similar has at least one of the `probe_words`, so the database searches for those and returns
    the rows with most of them. SQLite folds the case of a to z in a search; on PostgreSQL a word is searched in small
    letters, whatever its first letter, and in capitals, because folding would cost more than the search. This may miss
    near duplicates beyond that number, when more texts share words; and a text that writes every probe in capitals of
    another script, or in mixed case (“GitHub”).
    """
    probes = [_contains(column, word) for word in probe_words(text, limit)]
    if not probes:
        return rows.none()
    shared = Func(*map(_one_if, probes), template="(%(expressions)s)", arg_joiner=" + ", output_field=IntegerField())
    return rows.filter(reduce(or_, probes)).order_by(shared.desc(), then)[:MOST_COMPARED]


def _contains(column: str, word: str) -> Q:
    stem = _stem(word)
    small = Q(**{f"{column}__contains": stem[1:] if len(stem) > SHORT else stem})
    return small if connection.vendor == "sqlite" else small | Q(**{f"{column}__contains": stem.upper()})


def _one_if(condition: Q) -> Case:
    return Case(When(condition, then=1), default=0, output_field=IntegerField())


def _stem(word: str) -> str:
    """The longest part of a word that all its spellings share: no hyphen, no apostrophe, no plural."""
    longest = max(re.findall(r"\w+", word), key=len)
    return longest[:-1] if longest.endswith("y") and len(longest) > 3 else longest


WRITTEN = ("text", "intent", "description", "label")
"""What people write in a query: searched for personal data."""
LANGUAGES_OF = 500
"""So many of the newest queries say which languages are usual."""
MOST_WORDS = 5_000_000
MOST_HITS = 10


def languages_of(project: Project) -> Counter[str]:
    """How many of the newest queries are in each language; "" for those of which it is not clear."""
    newest = live_queries(project).order_by("-pk").values_list("text", flat=True)
    return Counter(map(language_of, newest[:LANGUAGES_OF]))


class QueryGate:
    """The checks of a project, for one query, or for those of a file.

    For one the database is searched. For many (`is_import`) queries and passages are read once, at the first query that
    needs them, so that the work grows with the file and not with its square; at most `MOST_WORDS` words of passages are
    read, and `note` says so.
    """

    def __init__(self, project: Project, *, is_import: bool = False) -> None:
        self.project = project
        self.effects = {str(check): str(policy(project, f"query_{check}")) for check in QueryCheck}
        self._run_limit = int(policy(project, "copied_run_limit"))
        self._like_limit = float(policy(project, "near_duplicate_limit"))
        self._is_import = is_import

    def expect(self, texts: Iterable[str]) -> None:
        """Count the languages of queries that come in together."""
        self._languages.update(map(language_of, texts))

    def remarks(self, query_id: str, written: Mapping[str, str], metadata: Mapping[str, Any]) -> list[Remark]:
        """What the checks find in the words of a query; only what is new of `written` has to be given.

        A variant repeats its original, and is not compared with other queries.
        """
        text = written.get("text", "")
        if not text or metadata.get(VARIANT_OF):
            return check_query(written, ComparedWith(), {QueryCheck.PERSONAL: self.effects[QueryCheck.PERSONAL]})
        beside = ComparedWith(
            others=[other for other in self._others(text) if other.ref != query_id],
            passages=self._passages(text),
            languages=usual_languages(self._languages),
            run_limit=self._run_limit,
            like_limit=self._like_limit,
        )
        remarks = check_query(written, beside, self.effects)
        if self._is_import:
            self._index.add(Other(query_id, text))
        return remarks

    @property
    def note(self) -> str:
        """What was not compared, as a sentence; "" for nothing."""
        runs = self.__dict__.get("_runs")
        if runs is None or not runs.unread:
            return ""
        return f"Copied words were looked for in the first {runs.read:,} of {runs.read + runs.unread:,} passages."

    @cached_property
    def _languages(self) -> Counter[str]:
        return languages_of(self.project)

    def _others(self, text: str) -> Sequence[Other]:
        if self._is_import:
            return self._index.like(text, self._like_limit)
        same = self._originals.filter(text__iexact=text).order_by("outside_id")[:2]
        like = worded_like(self._originals, "text", text, self._like_limit, then="outside_id")
        return [Other(*row) for rows in (same, like) for row in rows.values_list("outside_id", "text")]

    @property
    def _originals(self) -> Any:
        return live_queries(self.project).exclude(metadata__has_key=VARIANT_OF)

    @cached_property
    def _index(self) -> LikeIndex:
        rows = self._originals.values_list("outside_id", "text")
        return LikeIndex(Other(*row) for row in rows.iterator())

    def _passages(self, text: str) -> Sequence[Passage]:
        if len(words(text)) <= self._run_limit:
            return []
        if self._is_import:
            return self._runs.holding(text)
        hits = search_latest(self.project, text, limit=MOST_HITS)
        return [Passage(hit.block.outside_id, hit.version.text) for hit in hits]

    @cached_property
    def _runs(self) -> RunIndex:
        entries = SnapshotBlock.objects.filter(snapshot__in=latest_snapshots(self.project)).order_by("pk")
        rows = entries.values_list("block__outside_id", "version__text").iterator()
        return RunIndex((Passage(*row) for row in rows), self._run_limit + 1, most_words=MOST_WORDS)


def blocked(remarks: Iterable[Remark]) -> Remark | None:
    """The first that keeps its query out."""
    return next((remark for remark in remarks if remark.effect == CheckEffect.BLOCK), None)


def open_remarks(query: Query | None, changed: Collection[str], remarks: Iterable[Remark]) -> dict[str, str]:
    """The remarks that a query has from now on, by check: those on words that have not changed stay."""
    lapsed = set(QueryCheck) if "text" in changed else {QueryCheck.PERSONAL} if set(WRITTEN) & set(changed) else set()
    kept = {check: told for check, told in (query.remarks if query else {}).items() if check not in lapsed}
    return kept | {remark.check: remark.sentence for remark in remarks}
