"""Reads of slices: the questions that can be in one, the slices of a version, and what is found for those that grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.http import Http404

from apps.common.database.batched_reads import once
from apps.goldsets.enums import GROWING, SliceKind, Split
from apps.goldsets.models import GoldSet, Slice, SliceMember, Version, VersionGrade, VersionQuery, VersionTriple
from apps.queries.core.stratified import Candidate
from apps.triples.enums import ELSEWHERE

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

FIELDS = {"domain": "Domain", "difficulty": "Difficulty", "source": "Source"}
"""What rotating slices are stratified by, in this order."""

DISPUTED = "It was disputed before it was accepted."
NEVER_DISPUTED = ("", "consensus", ELSEWHERE)


class SliceQuestion(NamedTuple):
    """A dev question of a version: a query, one or more triples, or a query with the triples that came from it."""

    name: str
    text: str
    strata: tuple[str, ...]
    query: int | None = None
    triples: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


class FoundQuestion(NamedTuple):
    """A question for a slice that grows, by the outside id of a query or the label of a triple, and why it belongs."""

    name: str
    why: str


class SliceCount(TypedDict):
    """What `slices_of` adds to a slice: the number of its questions."""

    questions: int


class Bareness(TypedDict):
    """What `dev_queries` adds to a query: whether it has no relevant block."""

    is_bare: bool


if TYPE_CHECKING:
    CountedSlice = WithAnnotations[Slice, SliceCount]
    DevQuery = WithAnnotations[VersionQuery, Bareness]

Finder = Callable[[Version], Iterable[FoundQuestion]]

_finders: defaultdict[SliceKind, list[Finder]] = defaultdict(list)


def finds_for(kind: SliceKind, finder: Finder) -> None:
    """Register where questions for a slice come from. Apps above this one know what was missed and what fell."""
    if finder not in _finders[kind]:
        _finders[kind].append(finder)


def questions_for_slices(version: Version) -> list[SliceQuestion]:
    """The dev questions of a version by name. Test questions are sealed: a slice is worked with, so it has none."""
    by_name = {
        row.outside_id: SliceQuestion(row.outside_id, row.text, _strata(row.fields), query=row.pk)
        for row in dev_queries(version)
    }
    for row in dev_triples(version):
        name = row.content["query_id"] or row.label
        if name not in by_name:
            name = row.label
        question = by_name.get(name) or SliceQuestion(name, row.content["question"], _strata_of_triple(row))
        by_name[name] = question._replace(triples=(*question.triples, row.pk), labels=(*question.labels, row.label))
    return [by_name[name] for name in sorted(by_name, key=str.encode)]


def dev_queries(version: Version) -> list[DevQuery]:
    """The dev queries of a version; `is_bare` tells which have no relevant block."""
    relevant = VersionGrade.objects.filter(query=OuterRef("pk"), grade__gte=1)
    rows = VersionQuery.objects.filter(version=version, split=Split.DEV).annotate(is_bare=~Exists(relevant))
    return once(("dev queries", version.pk), lambda: list(rows))


def dev_triples(version: Version) -> list[VersionTriple]:
    """The dev triples of a version with their sources, oldest first."""
    rows = VersionTriple.objects.filter(version=version, split=Split.DEV).order_by("pk")
    rows = rows.select_related("triple__source", "triple__query__source")
    return once(("dev triples", version.pk), lambda: list(rows))


def _strata(fields: dict) -> tuple[str, ...]:
    return tuple(str(fields.get(name) or "") for name in FIELDS)


def _strata_of_triple(row: VersionTriple) -> tuple[str, ...]:
    source = row.triple.source or (row.triple.query.source if row.triple.query else None)
    return row.content["domain"], row.content["difficulty"], source.slug if source else ""


def names_by_item(questions: Iterable[SliceQuestion]) -> dict[str, str]:
    """The name of the question of each outside id and each label, for those who know one of its items."""
    names = {}
    for question in questions:
        names[question.name] = question.name
        names.update(dict.fromkeys(question.labels, question.name))
    return names


def slices_of(version: Version) -> list[CountedSlice]:
    """The slices of a version in the order of their kinds, each rotating one, newest quarter first.

    `questions` is the number of questions in each.
    """
    rows = Slice.objects.filter(version=version).annotate(questions=Max("members__number"))
    by_quarter = sorted(rows.select_related("created_by"), key=lambda row: row.quarter, reverse=True)
    order = list(SliceKind.values)
    return sorted(by_quarter, key=lambda row: order.index(row.kind))


def newest_slices(version: Version) -> list[CountedSlice]:
    """One slice of each kind: of the rotating ones that of the newest quarter."""
    newest: dict[str, CountedSlice] = {}
    for one in slices_of(version):
        newest.setdefault(one.kind, one)
    return list(newest.values())


def slice_named(version: Version, name: str) -> CountedSlice | None:
    """A slice by its kind (the newest rotating one) or its quarter, with its number of `questions`."""
    return next((one for one in slices_of(version) if name in (one.kind, one.name)), None)


def slice_in(version: Version, name: str) -> CountedSlice:
    found = slice_named(version, name)
    if found is None:
        raise Http404("No such slice.")
    return found


def members_of(part: Slice, size: int | None = None) -> QuerySet[SliceMember]:
    """The members by number; with `size` those of its first questions alone: the slice as it was then."""
    rows = SliceMember.objects.filter(slice=part).order_by("number", "pk")
    return rows if size is None else rows.filter(number__lte=size)


def items_in(part: Slice, size: int | None = None, *, by_triples: bool) -> set[str]:
    """The labels of the triples in a slice, or the outside ids of its queries."""
    field = "triple__label" if by_triples else "query__outside_id"
    named = members_of(part, size).filter(**{f"{field}__isnull": False})
    return set(named.values_list(field, flat=True))


def offered_for(version: Version, part: Slice | None) -> list[SliceQuestion]:
    """The dev questions of a version that a slice does not have yet; all of them where there is no slice yet."""
    taken = set(members_of(part).values_list("name", flat=True)) if part else set()
    return [one for one in questions_for_slices(version) if one.name not in taken]


def matching(questions: Iterable[SliceQuestion], words: str) -> list[SliceQuestion]:
    """Those with all the words in their name or text, in any case."""
    wanted = words.casefold().split()
    return [one for one in questions if all(word in f"{one.name} {one.text}".casefold() for word in wanted)]


class SliceItem(NamedTuple):
    """A member of a slice: the outside id of its query or the label of its triple. `quarter` is of a rotating one."""

    slice_id: int
    kind: str
    quarter: str
    name: str
    why: str
    query: str | None
    label: str | None


def items_of(version: Version, parts: Collection[Slice]) -> list[SliceItem]:
    """The members of these slices of the version, of every rotating slice of its gold set, and of its `former_slices`.

    By their numbers.
    """
    rotating = Q(slice__version__gold_set=version.gold_set_id, slice__kind=SliceKind.ROTATING)
    others = Q(slice__in=[part.pk for part in parts]) | Q(slice__in=former_slices(version))
    columns = ("slice_id", "slice__kind", "slice__quarter", "name", "why", "query__outside_id", "triple__label")
    rows = SliceMember.objects.filter(rotating | others).order_by("number", "pk")
    return [SliceItem(*row) for row in rows.values_list(*columns)]


def last_used(gold_set: GoldSet, *, before: str = "") -> dict[str, str]:
    """The last quarter in which each question was in a rotating slice of any version of the gold set, by name."""
    rows = SliceMember.objects.filter(slice__version__gold_set=gold_set, slice__kind=SliceKind.ROTATING)
    rows = rows.filter(slice__quarter__lt=before) if before else rows
    return dict(rows.values_list("name").annotate(last=Max("slice__quarter")).order_by())


def candidates(questions: Iterable[SliceQuestion], used: dict[str, str]) -> list[Candidate]:
    return [Candidate(question.name, question.strata, used.get(question.name, "")) for question in questions]


def found_for(
    version: Version,
    kind: SliceKind,
    taken: Collection[str],
    names: dict[str, str] | None = None,
    carried: Iterable[FoundQuestion] | None = None,
) -> dict[str, str]:
    """The questions found for a slice that it has not yet, by name, with the first reason of each.

    Those that the slice of the version before had come first: they are carried on while they exist. `names` are those
    of `names_by_item`, and `carried` the former members, for a caller that has them.
    """
    carried = _carried_on(version, kind) if carried is None else carried
    names = names_by_item(questions_for_slices(version)) if names is None else names
    found: dict[str, str] = {}
    for one in [*carried, *(one for finder in _finders[kind] for one in finder(version))]:
        name = names.get(one.name)
        if name is not None and name not in taken:
            found.setdefault(name, one.why)
    return found


def _carried_on(version: Version, kind: SliceKind) -> list[FoundQuestion]:
    members = SliceMember.objects.filter(slice__in=former_slices(version).filter(kind=kind)).order_by("number", "pk")
    return [FoundQuestion(name, why) for name, why in members.values_list("name", "why")]


def former_slices(version: Version) -> QuerySet[Slice]:
    """Of each kind that grows the newest slice that an earlier version of the gold set has."""
    earlier = Slice.objects.filter(version__gold_set=version.gold_set_id, version__number__lt=version.number)
    newer = earlier.filter(kind=OuterRef("kind"), version__number__gt=OuterRef("version__number"))
    return earlier.filter(~Exists(newer), kind__in=GROWING)


def disputed_in(version: Version) -> list[FoundQuestion]:
    """The triples that were disputed once, by what was recorded when they were released."""
    return [
        FoundQuestion(row.label, DISPUTED)
        for row in dev_triples(version)
        if row.content.get("resolution") not in NEVER_DISPUTED
    ]
