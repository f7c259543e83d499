"""What changed from one version to the next, item by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade, VersionQuery, VersionTriple


class Change(NamedTuple):
    """One item that differs. `before` and `after` are what to show; an added item has no before."""

    name: str
    before: str = ""
    after: str = ""


class Diff(NamedTuple):
    """Changes by kind, each in the order of names. `re_pinned` are the same items on another text."""

    added: list[Change]
    removed: list[Change]
    regraded: list[Change]
    repinned: list[Change]
    reworded: list[Change]

    @property
    def is_empty(self) -> bool:
        return not any(self)


class _Seen(NamedTuple):
    """What is compared of an item: its value (grade or words) and the texts it stands on."""

    value: str
    texts: tuple[Any, ...] = ()


def diff(former: Version, version: Version, *, splits: Iterable[str] = tuple(Split.values)) -> Diff:
    """Queries, pairs and triples of two frozen versions, restricted to items on one of `splits` in the later one.

    An item that was removed is compared by its side in the former.
    """
    sides = tuple(splits)
    queries = _compare(_queries(former, sides), _queries(version, sides))
    pairs = _compare(_pairs(former, sides), _pairs(version, sides))
    triples = _compare(_triples(former, sides), _triples(version, sides))
    return Diff(
        added=[*queries.added, *pairs.added, *triples.added],
        removed=[*queries.removed, *pairs.removed, *triples.removed],
        regraded=pairs.changed,
        repinned=[*pairs.moved, *triples.moved],
        reworded=[*queries.changed, *triples.changed],
    )


class _Compared(NamedTuple):
    added: list[Change]
    removed: list[Change]
    changed: list[Change]
    moved: list[Change]


def _compare(before: Mapping[str, _Seen], after: Mapping[str, _Seen]) -> _Compared:
    found = _Compared([], [], [], [])
    for name in sorted(before.keys() | after.keys(), key=str.encode):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            side = found.added if old is None else found.removed
            side.append(Change(name, old.value if old else "", new.value if new else ""))
            continue
        if old.value != new.value:
            found.changed.append(Change(name, old.value, new.value))
        if old.texts != new.texts:
            found.moved.append(Change(name))
    return found


def _queries(version: Version, sides: tuple[str, ...]) -> dict[str, _Seen]:
    rows = VersionQuery.objects.filter(version=version, split__in=sides).values_list("outside_id", "text")
    return {outside_id: _Seen(text) for outside_id, text in rows}


def _pairs(version: Version, sides: tuple[str, ...]) -> dict[str, _Seen]:
    rows = VersionGrade.objects.filter(version=version, query__split__in=sides).values_list(
        "query__outside_id", "block_id", "grade", "block_version__text_digest"
    )
    return {
        f"{query} with {block}": _Seen(f"grade {grade}", (digest,))
        for query, block, grade, digest in rows.iterator(chunk_size=5_000)
    }


def _triples(version: Version, sides: tuple[str, ...]) -> dict[str, _Seen]:
    rows = VersionTriple.objects.filter(version=version, split__in=sides).prefetch_related(
        "revision__expected_blocks__version"
    )
    found = {}
    for row in rows:
        texts = [(e.version.block_id, e.version.text_digest) for e in row.revision.expected_blocks.all()]
        words = f"{row.content['question']} {row.content['expected_answer']}"
        found[row.label] = _Seen(words, tuple(sorted(texts)))
    return found
