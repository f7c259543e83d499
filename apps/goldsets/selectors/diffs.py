"""Differences between two versions, item by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from apps.common.text.worddiff import Piece, word_diff
from apps.corpus.models import BlockVersion
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade, VersionQuery, VersionTriple


class Pin(NamedTuple):
    """A text that an item refers to: the block, the digest of the text, and the block version."""

    block: str
    digest: str
    version_id: int

    @property
    def text(self) -> tuple[str, str]:
        """The identity of the text."""
        return self.block, self.digest


class ItemChange(NamedTuple):
    """One item that differs. `before` and `after` are for display; an added item has no before.

    A re-pinned item has its earlier texts and its current ones, without those in both.
    """

    name: str
    before: str = ""
    after: str = ""
    pins_before: tuple[Pin, ...] = ()
    pins_after: tuple[Pin, ...] = ()


class Repinned(NamedTuple):
    """A re-pinned item for display: each changed text, word by word."""

    name: str
    texts: list[RepinnedText]


class RepinnedText(NamedTuple):
    """The blocks before and after, and the difference between their texts. Empty where one of them is missing."""

    before: str
    after: str
    pieces: list[Piece]


class Diff(NamedTuple):
    """Changes by kind, each in the order of names. `re_pinned` are the same items on another text."""

    added: list[ItemChange]
    removed: list[ItemChange]
    regraded: list[ItemChange]
    repinned: list[ItemChange]
    reworded: list[ItemChange]

    @property
    def is_empty(self) -> bool:
        return not any(self)


class _ItemState(NamedTuple):
    """The compared values of an item: its value (grade or words) and its texts."""

    value: str
    pins: tuple[Pin, ...] = ()

    @property
    def texts(self) -> set[tuple[str, str]]:
        return {pin.text for pin in self.pins}


def diff(former: Version, version: Version, *, splits: Iterable[str] = tuple(Split.values)) -> Diff:
    """Queries, pairs and triples of two frozen versions, restricted to items on one of `splits` in the later one.

    An item that was removed is compared by its split in the former.
    """
    chosen = tuple(splits)
    queries = _compare(_queries(former, chosen), _queries(version, chosen))
    pairs = _compare(_pairs(former, chosen), _pairs(version, chosen))
    triples = _compare(_triples(former, chosen), _triples(version, chosen))
    return Diff(
        added=[*queries.added, *pairs.added, *triples.added],
        removed=[*queries.removed, *pairs.removed, *triples.removed],
        regraded=pairs.changed,
        repinned=[*pairs.moved, *triples.moved],
        reworded=[*queries.changed, *triples.changed],
    )


class _Compared(NamedTuple):
    added: list[ItemChange]
    removed: list[ItemChange]
    changed: list[ItemChange]
    moved: list[ItemChange]


def _compare(before: Mapping[str, _ItemState], after: Mapping[str, _ItemState]) -> _Compared:
    compared = _Compared([], [], [], [])
    for name in sorted(before.keys() | after.keys(), key=str.encode):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            changes = compared.added if old is None else compared.removed
            changes.append(ItemChange(name, old.value if old else "", new.value if new else ""))
            continue
        if old.value != new.value:
            compared.changed.append(ItemChange(name, old.value, new.value))
        if old.texts != new.texts:
            gone = tuple(pin for pin in old.pins if pin.text not in new.texts)
            come = tuple(pin for pin in new.pins if pin.text not in old.texts)
            compared.moved.append(ItemChange(name, old.value, new.value, gone, come))
    return compared


def with_texts(changes: Sequence[ItemChange]) -> list[Repinned]:
    """Re-pinned items with the difference of their texts: those of one block first, then the others, in order."""
    pins = [pin for change in changes for pin in (*change.pins_before, *change.pins_after)]
    texts = dict(BlockVersion.objects.filter(pk__in={pin.version_id for pin in pins}).values_list("pk", "text"))
    return [Repinned(change.name, [_text_difference(pair, texts) for pair in _paired(change)]) for change in changes]


def _paired(change: ItemChange) -> list[tuple[Pin | None, Pin | None]]:
    after = {pin.block: pin for pin in change.pins_after}
    same = [(pin, after.pop(pin.block)) for pin in change.pins_before if pin.block in after]
    left = [pin for pin in change.pins_before if pin.block not in {before.block for before, _ in same}]
    return [*same, *zip_longest(left, after.values())]


def _text_difference(pair: tuple[Pin | None, Pin | None], texts: Mapping[int, str]) -> RepinnedText:
    before, after = (texts[pin.version_id] if pin else "" for pin in pair)
    block_before, block_after = (pin.block if pin else "" for pin in pair)
    return RepinnedText(block_before, block_after, word_diff(before, after))


def _queries(version: Version, splits: tuple[str, ...]) -> dict[str, _ItemState]:
    rows = VersionQuery.objects.filter(version=version, split__in=splits).values_list("outside_id", "text")
    return {outside_id: _ItemState(text) for outside_id, text in rows}


def _pairs(version: Version, splits: tuple[str, ...]) -> dict[str, _ItemState]:
    rows = VersionGrade.objects.filter(version=version, query__split__in=splits).values_list(
        "query__outside_id", "block_id", "grade", "block_version__text_digest", "block_version_id"
    )
    return {
        f"{query} with {block}": _ItemState(f"grade {grade}", (Pin(block, digest, version),))
        for query, block, grade, digest, version in rows.iterator(chunk_size=5_000)
    }


def _triples(version: Version, splits: tuple[str, ...]) -> dict[str, _ItemState]:
    rows = VersionTriple.objects.filter(version=version, split__in=splits).prefetch_related(
        "revision__expected_blocks__version__block"
    )
    states = {}
    for row in rows:
        versions = [expected.version for expected in row.revision.expected_blocks.all()]
        pins = sorted(Pin(version.block.outside_id, version.text_digest, version.pk) for version in versions)
        words = f"{row.content['question']} {row.content['expected_answer']}"
        states[row.label] = _ItemState(words, tuple(pins))
    return states
