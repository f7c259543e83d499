"""Reads of public releases: what decides about each item, the words to look for, what stays in, and the preview."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby, islice
from typing import Any, NamedTuple

from django.db.models import Count, IntegerField, Q, QuerySet, Value

from apps.accounts.enums import Role
from apps.accounts.models import Membership, Project, User
from apps.accounts.selectors import members_of, policy
from apps.common.database.batched_reads import BatchedRead, ListOf, answer_to, once
from apps.corpus.models import PublicTexts
from apps.goldsets.enums import PublicState, StayKind, StayReason
from apps.goldsets.formats import jsonl
from apps.goldsets.formats.content import FrozenQuery, TripleRow
from apps.goldsets.formats.public.scrub import PASSAGES, PublicContent, Selection, SourceTerms, Terms
from apps.goldsets.formats.public.words import ForbiddenWords, PreviewLine, preview_lines
from apps.goldsets.models import PublicRelease, PublicStay, Version, VersionQuery, VersionTriple
from apps.goldsets.selectors.content import VersionContent
from apps.queries.enums import PermissionScope, SourceKind
from apps.queries.models import Source


def public_releases_of(version: Version) -> QuerySet[PublicRelease]:
    """Newest first, with the people who had a part in them."""
    related = ("version__gold_set__project", "job", "prepared_by", "asked", "signed_by", "released_by", "withdrawn_by")
    releases = PublicRelease.objects.filter(version=version).select_related(*related)
    return releases.order_by("-pk")


def live_release(version: Version) -> PublicRelease | None:
    return public_releases_of(version).exclude(state=PublicState.WITHDRAWN).first()


def locked_release(release_id: int) -> PublicRelease:
    """The release as it is once nobody else writes to it. Call inside a transaction."""
    list(PublicRelease.objects.select_for_update(no_key=True).filter(pk=release_id).values_list("pk", flat=True))
    return public_release(release_id)


def public_release(release_id: int) -> PublicRelease:
    """The release with what building its files needs."""
    related = ("version__gold_set__project", "version__snapshot__corpus", "version__guideline", "prepared_by", "job")
    return PublicRelease.objects.select_related(*related).get(pk=release_id)


def public_versions(project: Project) -> set[int]:
    """The versions of the project of which a public release is out."""
    out = PublicRelease.objects.filter(version__gold_set__project=project, state=PublicState.RELEASED)
    return set(out.values_list("version", flat=True))


def waiting_for(project: Project, user: User, *, at: datetime) -> list[PublicRelease]:
    """Releases that wait for the signature of this lead, for their own to be let out, or for any lead to withdraw
    them, since they are out and have material that may not be published any more.
    """
    found = PublicRelease.objects.filter(
        version__gold_set__project=project, state__in=[PublicState.PREPARED, PublicState.SIGNED, PublicState.RELEASED]
    )
    releases = found.select_related("version__gold_set__project", "prepared_by", "asked").order_by("pk")
    return [release for release in releases if _waits_for(release, user, at)]


def ended_versions(project: Project, *, at: datetime) -> set[int]:
    """The versions of which a public release is out with material that may not be published any more."""
    out = PublicRelease.objects.filter(version__gold_set__project=project, state=PublicState.RELEASED)
    releases = out.select_related("version__gold_set__project").order_by("pk")
    return {release.version_id for release in releases if no_longer_public(release, at=at)}


def _waits_for(release: PublicRelease, user: User, at: datetime) -> bool:
    if release.state == PublicState.RELEASED:
        return bool(no_longer_public(release, at=at))
    if release.state == PublicState.SIGNED:
        return release.prepared_by_id == user.pk
    return release.prepared_by_id != user.pk and release.asked_id in {None, user.pk}


def other_leads(release: PublicRelease) -> QuerySet[User]:
    """Who may sign: leads who did not prepare it."""
    leads = members_of(release.version.gold_set.project, Role.LEAD)
    return leads.exclude(pk=release.prepared_by_id).order_by("name", "pk")


def has_opened(release: PublicRelease, user: User) -> bool:
    """Whether the person has opened the preview of what goes out now."""
    return release.looks.filter(person=user, digest=release.digest).exists()


def public_texts_of(version: Version) -> PublicTexts | None:
    """Who says that the passages of the version may be published; None where nobody does."""
    corpus = version.snapshot.corpus_id
    said = PublicTexts.objects.filter(corpus=corpus, ended_at=None).select_related("recorded_by")
    return once(("public texts", corpus), said.first)


class StayGroup(NamedTuple):
    """The items of a kind that stay in for one reason."""

    reason: StayReason
    number: int
    details: tuple[str, ...]


MOST_DETAILS = 3


def stays_of(release: PublicRelease) -> dict[StayKind, list[StayGroup]]:
    """The items that stay in by kind and reason, most first."""
    rows = release.stays.order_by().values_list("kind", "reason", "detail").annotate(number=Count("pk"))
    groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for kind, reason, detail, number in rows:
        groups.setdefault((kind, reason), []).append((number, detail))
    found: dict[StayKind, list[StayGroup]] = {kind: [] for kind in StayKind}
    for (kind, reason), parts in groups.items():
        parts.sort(key=lambda part: (-part[0], part[1]))
        details = tuple(detail for _, detail in parts if detail)[:MOST_DETAILS]
        found[StayKind(kind)].append(StayGroup(StayReason(reason), sum(number for number, _ in parts), details))
    for of_kind in found.values():
        of_kind.sort(key=lambda group: (-group.number, group.reason))
    return found


def stays_in(release: PublicRelease, *, kind: str, reason: str) -> QuerySet[PublicStay]:
    """The items that stay in, of one kind and for one reason where they are given."""
    chosen = {name: value for name, value in (("kind", kind), ("reason", reason)) if value}
    return release.stays.filter(**chosen).order_by("pk")


class PublicSources(NamedTuple):
    """How many queries and Q&As of a version there are, and how many come from sources that may be published."""

    queries: int
    public_queries: int
    triples: int
    public_triples: int


def public_sources(version: Version, *, at: datetime) -> PublicSources:
    terms = _source_terms(_known_sources(version.gold_set.project), at)
    queries, triples = _terms_by_item(version, terms)
    counts = version.manifest["counts"]
    may = [sum(one.reason is None for one in terms.values()) for terms in (queries, triples)]
    return PublicSources(counts["queries"], may[0], counts["triples"], may[1])


def terms_of(version: Version, splits: Collection[str], *, at: datetime) -> Terms:
    """What decides about the items of the version at this time: permissions as they stand, names and words."""
    project = version.gold_set.project
    sources = _known_sources(project)
    terms = _source_terms(sources, at)
    return Terms(*_terms_by_item(version, terms), frozenset(splits), _words(project, sources, terms))


class _Granted(NamedTuple):
    """A permission of a source."""

    pk: int
    scope: str
    owner: str
    granted_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class _KnownSource(NamedTuple):
    pk: int
    name: str
    slug: str
    kind: str
    permissions: tuple[_Granted, ...]

    @property
    def named(self) -> list[str]:
        """What tells of it: its own names and its owners."""
        return [self.name, self.slug, *(one.owner for one in self.permissions)]


def _known_sources(project: Project) -> list[_KnownSource]:
    """The sources of the project with their permissions, in one statement."""
    own = ("pk", "name", "slug", "kind")
    rows = Source.objects.filter(project=project).order_by("pk", "permissions__pk")
    found = groupby(rows.values_list(*own, *(f"permissions__{name}" for name in _Granted._fields)), lambda row: row[:4])
    return [_KnownSource._make([*head, tuple(_Granted(*row[4:]) for row in same if row[4])]) for head, same in found]


def _terms_by_item(
    version: Version, terms: Mapping[int, SourceTerms]
) -> tuple[dict[str, SourceTerms], dict[str, SourceTerms]]:
    """The terms of each query and Q&A that has a source, by its id.

    An item goes out when each of its sources allows it: a Q&A's own and that of its query.
    """
    found: dict[str, dict[str, SourceTerms]] = {StayKind.QUERIES: {}, StayKind.TRIPLES: {}}
    for item in _sourced_items(version):
        own = [terms[pk] for pk in item.sources]
        found[item.kind][item.name] = next((one for one in own if one.reason), own[0])
    return found[StayKind.QUERIES], found[StayKind.TRIPLES]


class _SourcedItem(NamedTuple):
    kind: str
    name: str
    sources: list[int]


def _sourced_items(version: Version) -> Iterator[_SourcedItem]:
    """The queries and Q&As of the version that have a source, in one statement."""
    queries = VersionQuery.objects.filter(version=version, query__source__isnull=False)
    triples = VersionTriple.objects.filter(version=version)
    triples = triples.filter(Q(triple__source__isnull=False) | Q(triple__query__source__isnull=False))
    none = Value(None, IntegerField())
    of_queries = queries.values_list(Value(StayKind.QUERIES.value), "outside_id", "query__source", none)
    of_triples = triples.values_list(Value(StayKind.TRIPLES.value), "label", "triple__source", "triple__query__source")
    for kind, name, *own in of_queries.union(of_triples, all=True):
        yield _SourcedItem(kind, name, [pk for pk in own if pk])


def _source_terms(sources: Iterable[_KnownSource], at: datetime) -> dict[int, SourceTerms]:
    return {source.pk: _terms_of(source, at) for source in sources}


def _terms_of(source: _KnownSource, at: datetime) -> SourceTerms:
    """By the latest permission in force; without one by the closest to it, as freezing has it."""
    kind = SourceKind(source.kind).label
    in_force = [one for one in source.permissions if _is_in_force(one, at)]
    if in_force:
        latest = max(in_force, key=lambda one: (one.granted_at, one.pk))
        if latest.scope == PermissionScope.PUBLIC:
            return SourceTerms(None, source.name, kind)
        reason = StayReason.CUSTOMER if source.kind == SourceKind.CUSTOMER else StayReason.INTERNAL
        return SourceTerms(reason, source.name, kind)
    if not source.permissions:
        return SourceTerms(StayReason.NO_PERMISSION, source.name, kind)
    has_ended = any(one.revoked_at is None for one in source.permissions)
    return SourceTerms(StayReason.EXPIRED if has_ended else StayReason.REVOKED, source.name, kind)


def _is_in_force(permission: _Granted, at: datetime) -> bool:
    if permission.revoked_at is not None or permission.granted_at > at:
        return False
    return permission.expires_at is None or permission.expires_at > at


def _words(project: Project, sources: Collection[_KnownSource], terms: Mapping[int, SourceTerms]) -> ForbiddenWords:
    """The internal words of the settings, names of sources that are not public and their owners, names of people.

    A name that stands on a public source too, or is the project's own, is no secret.
    """
    people = User.objects.filter(pk__in=Membership.objects.filter(project=project).values("user")).order_by("pk")
    said = PublicTexts.objects.filter(corpus__project=project, ended_at=None)
    asked = {"said": ListOf(said.values_list("owner")), "people": ListOf(people.values_list("name", "email"))}
    found = answer_to(project, BatchedRead(asked, dict))
    owners = [owner for (owner,) in found["said"]]
    public = {project.name, *owners, *(word for one in sources if not terms[one.pk].reason for word in one.named)}
    whole = {word for one in sources if terms[one.pk].reason for word in one.named}
    return ForbiddenWords(
        inside=tuple(filter(None, map(str.strip, policy(project, "internal_words").splitlines()))),
        whole=tuple(sorted(whole - public)),
        names=tuple(word for pair in found["people"] for word in pair if word),
        allowed=tuple(one["text"] for one in policy(project, "allowed_public")),
    )


def no_longer_public(release: PublicRelease, *, at: datetime) -> list[str]:
    """Names of sources that have items in the files of the release and may not be published any more.

    Their permission was revoked or has run out, or the one that is left says internal.
    """
    terms = _source_terms(_known_sources(release.version.gold_set.project), at)
    ended = {pk: one.detail for pk, one in terms.items() if one.reason}
    if not ended:
        return []
    staying = set(release.stays.filter(kind__in=[StayKind.QUERIES, StayKind.TRIPLES]).values_list("kind", "name"))
    going = (item for item in _sourced_items(release.version) if (item.kind, item.name) not in staying)
    return sorted(ended[pk] for pk in {pk for item in going for pk in item.sources if pk in ended})


class PreviewRecord(NamedTuple):
    """A record of one kind, numbered from 1, of so many."""

    kind: str
    number: int
    total: int
    lines: list[PreviewLine]
    name: str


PREVIEWED = ("triples", "queries")


def preview_record(release: PublicRelease, kind: str, number: int, *, at: datetime) -> PreviewRecord:
    """The record with this number among those that go out, or the nearest there is."""
    version = release.version
    whole = VersionContent(version)
    terms = terms_of(version, release.splits, at=at)
    queries, triples = list(whole.queries()), list(whole.triples())
    public = PublicContent(whole, terms, _stored_selection(release, queries, triples))
    total = release.report["counts"][kind]["going"]
    number = max(1, min(number, total))
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    if kind == "triples":
        going = (row for row in triples if row.triple_id in public.chosen.triples)
        for triple in islice(going, number - 1, number):
            before, after = jsonl.triple_entry(triple), jsonl.triple_entry(public.triple(triple))
    else:
        asked = (row for row in queries if row.query_id in public.chosen.queries)
        for query in islice(asked, number - 1, number):
            before, after = jsonl.query_entry(query), jsonl.query_entry(public.query(query))
    name = str(before.get("id" if kind == "triples" else "query_id", ""))
    return PreviewRecord(kind, number if total else 0, total, preview_lines(before, after), name)


def _stored_selection(
    release: PublicRelease, queries: Iterable[FrozenQuery], triples: Iterable[TripleRow]
) -> Selection:
    """What was chosen when the release was built, from what it kept in. Passages are not in it."""
    staying = set(release.stays.exclude(kind=PASSAGES).values_list("kind", "name"))
    chosen = Selection()
    chosen.queries = {row.query_id for row in queries if ("queries", row.query_id) not in staying}
    chosen.triples = {row.triple_id for row in triples if ("triples", row.triple_id) not in staying}
    for row in triples:
        if row.triple_id in chosen.triples:
            for name in (row.added_by, *row.reviewed_by):
                chosen.pseudonym(name)
    return chosen
