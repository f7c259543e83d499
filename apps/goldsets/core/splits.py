"""Splits into dev and test without leakage: whole groups, chosen to meet a share, or by their time.

Items are tied when they share a key: an entity group, a document, a source, or the same words apart from case, accents,
punctuation and order of white space; and when they ask nearly the same (see `near_questions`). Items tied directly or
through others are always in the same split.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.text.wording import plural
from apps.queries.core.naming import VARIANT_OF

ASKED_IN = ("asked_at", "recorded_at", "date")
"""The fields of a query's metadata that say when it was asked; the first one that is there counts."""


class ItemTime(NamedTuple):
    """`at` is None where a date is given and cannot be read: `written` is what is given."""

    at: datetime | None
    is_asked: bool = False
    written: str = ""


def time_written(value: object) -> ItemTime:
    """A date or a time of ISO 8601, such as 2026-03-14 or 2026-03-14T09:30:00+01:00; without a zone it is UTC."""
    written = str(value).strip()
    try:
        at = datetime.fromisoformat(written)
        # A zone can lead out of the years that there are.
        return ItemTime((at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC), is_asked=True)
    except (ValueError, OverflowError):
        return ItemTime(None, written=written)


def query_time(metadata: Mapping[str, Any], added_at: datetime) -> ItemTime:
    """When a query was asked, as its metadata says; without a word about it when it was added to the project."""
    return _first_written([metadata.get(name) for name in ASKED_IN], added_at)


def triple_time(claims: Mapping[str, Any], added_at: datetime) -> ItemTime:
    """When a triple that came from no query was added, as its file says; else when it was started here."""
    return _first_written([claims.get("added_at")], added_at)._replace(is_asked=False)


def _first_written(values: list[object], added_at: datetime) -> ItemTime:
    given = [value for value in values if value not in (None, "")]
    return time_written(given[0]) if given else ItemTime(added_at)


ALWAYS_TOGETHER = ("the same and nearly the same words", "variants of a query", "a query and its Q&As")
TOGETHER_WORDS = {
    "group": "groups",
    "document": "documents that answer",
    "relevant": "documents that are relevant at all",
    "source": "sources",
}
MIDNIGHT = "T00:00:00Z"


def split_words(facts: Mapping[str, Any]) -> str:
    """ "by group", or "by time, test from 2026-03-14 on". Versions from before there was a choice are by group."""
    if facts.get("by", "group") == "group":
        return "by group"
    boundary = boundary_words(facts)
    return f"by time, test from {boundary} on" if boundary else "by time, which put nothing new into test"


def kept_together(facts: Mapping[str, Any]) -> str:
    """By what no leak was found, from the facts of a manifest: what no split divides, always or by choice."""
    chosen = facts.get("group_by", ())
    return ", ".join([*ALWAYS_TOGETHER, *(words for key, words in TOGETHER_WORDS.items() if key in chosen)])


def on_both_sides(facts: Mapping[str, Any]) -> str:
    """What is relevant in dev and in test, from the facts of a manifest; "" where that was not counted yet."""
    shared = facts.get("shared")
    if shared is None:
        return ""
    if not shared["documents"]:
        return f"no document is relevant (grade {shared['from_grade']} and above) in both dev and test"
    both = f"{plural(shared['documents'], 'document')} and {plural(shared['passages'], 'passage')}"
    return f"{both} are relevant (grade {shared['from_grade']} and above) in both dev and test"


def boundary_words(facts: Mapping[str, Any]) -> str:
    """The time from which on questions are in test: a day, or a time in UTC where it is within a day; "" for none."""
    boundary = str(facts.get("boundary") or "")
    if boundary.endswith(MIDNIGHT):
        return boundary.removesuffix(MIDNIGHT)
    return boundary.replace("T", " ").replace("Z", " UTC")


DEV, TEST = "dev", "test"


def originals_of(metadata: Mapping[str, Mapping[str, Any]]) -> NDArray[np.int64] | None:
    """A number for each query, the same for a question and all queries that word it in other ways, also by others.

    `metadata` is by outside id, in the order of the result. An original that is not among the queries ties its variants
    too. None where no query is a variant: each is its own.
    """
    named = {name: str(facts[VARIANT_OF]) for name, facts in metadata.items() if facts.get(VARIANT_OF)}
    if not named:
        return None
    numbers: dict[str, int] = {}
    found = []
    for name in metadata:
        passed = {name}
        while (original := named.get(name, name)) not in passed:
            passed.add(original)  # whoever names a circle of variants gets an end of it, not a hang
            name = original
        found.append(numbers.setdefault(name, len(numbers)))
    return np.array(found, dtype=np.int64)


NEAR_DOCUMENT_FROM = 0.8
"""The share of their runs of three words from which two documents are nearly the same."""
NOT_A_WORD = re.compile(r"[^\w]+")


class SplitItem(NamedTuple):
    """An item to split. `former` is its split in an earlier version, which it keeps; `at` is its time, if known.

    `is_trained` marks one that a system was trained on. `stratum` is what both sides should have their share of.
    """

    name: str
    text: str
    keys: tuple[tuple[str, str], ...] = ()
    former: str = ""
    at: datetime | None = None
    is_trained: bool = False
    stratum: str = ""


class TimeSplit(NamedTuple):
    """The split of each item by name, and the time that divides them; None where time put nothing into test."""

    splits: dict[str, str]
    boundary: datetime | None


class Tie(NamedTuple):
    """Why two items must be in one split: the kind of key and its value."""

    kind: str
    value: str


class Leak(NamedTuple):
    """A tie with items in both splits, and their names in each."""

    tie: Tie
    dev: tuple[str, ...]
    test: tuple[str, ...]


def normalised(text: str) -> str:
    """The words only: compatibility forms, no case, no accents, no punctuation."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    letters = plain if plain.isascii() else "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(NOT_A_WORD.sub(" ", letters).split())


def words_digest(text: str) -> str:
    """SHA-256 of the words of a text, however they are written; "" for a text without words."""
    words = normalised(text)
    return hashlib.sha256(words.encode()).hexdigest() if words else ""


def near_documents(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Of each document that is nearly the same as another, its pairs, as a name that both of a pair share."""
    from apps.corpus.core.near_duplicates import near_pairs

    names = sorted(texts)
    shared: defaultdict[str, list[str]] = defaultdict(list)
    for pair in near_pairs([texts[name] for name in names], NEAR_DOCUMENT_FROM):
        for place in (pair.one, pair.other):
            shared[names[place]].append(f"{names[pair.one]} and {names[pair.other]}")
    return dict(shared)


@lru_cache(maxsize=4_096)
def ties_of(item: SplitItem) -> tuple[Tie, ...]:
    """What keeps it with other items. Asked twice of each: to group them, and to find what leaks."""
    digest = words_digest(item.text)
    same_words = (Tie("text", digest),) if digest else ()
    return (*(Tie(kind, value) for kind, value in item.keys if value), *same_words)


def groups(items: Sequence[SplitItem]) -> list[list[SplitItem]]:
    """The groups that no split may divide; each group and the list in bytewise order of names."""
    parent = {item.name: item.name for item in items}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    first: dict[Tie, str] = {}
    for item in items:
        for tie in ties_of(item):
            here, there = root(item.name), root(first.setdefault(tie, item.name))
            parent[max(here, there)] = min(here, there)
    members: defaultdict[str, list[SplitItem]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.name.encode()):
        members[root(item.name)].append(item)
    return sorted(members.values(), key=lambda group: group[0].name.encode())


def split(items: Sequence[SplitItem], *, test_share: float, seed: int) -> dict[str, str]:
    """The split of each item, by name.

    Of whole groups those go to test that bring the share of items in test nearest to `test_share`, and under this
    those that do so in each stratum too; where several do, a hash of the group and the seed decides (`_in_test`). A
    group that an earlier version had in one split stays in it; one in both keeps its items where they were (`leaks`
    reports it), with its new ones in dev. A group that a system was trained on is dev.
    """
    splits, free = _placed(items)
    if not free:
        return splits
    column = {stratum: at for at, stratum in enumerate(sorted({item.stratum for item in items}))}
    wanted = np.zeros(len(column))
    for item in items:
        wanted[column[item.stratum]] += test_share - (splits.get(item.name) == TEST)
    sizes = np.zeros((len(free), len(column)), dtype=np.int64)
    for row, group in enumerate(free):
        for item in group:
            sizes[row, column[item.stratum]] += 1
    hashes = np.frombuffer(b"".join(_rank(group, seed)[:16] for group in free), dtype=">u8").reshape(-1, 2) / 2**64
    for group, is_test in zip(free, _in_test(sizes, wanted, hashes), strict=True):
        splits.update({item.name: TEST if is_test else DEV for item in group})
    return splits


MOST_BITS = 2**25
"""How much is kept for the groups that are chosen together: all of 5,000 questions of one stratum, of 500 in two."""


def _in_test(sizes: NDArray[np.int64], wanted: NDArray[np.float64], hashes: NDArray[np.float64]) -> list[bool]:
    """Which groups go to test, so that test gets what is `wanted` of each stratum; `sizes` is by group and stratum.

    `hashes` are two numbers from 0 to 1 of each group: one gives its place in the order, one its chance.

    The smallest groups, as many as `MOST_BITS` allow, are chosen together, exactly. In a large set the others are drawn
    before, one after the other, the largest first, each with the share that test still lacks of what is left in the
    group's strata (selection sampling: Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S).
    """
    chosen = np.zeros(len(sizes), dtype=bool)
    places, chances = hashes.T
    order = np.lexsort((places, -sizes.sum(axis=1)))
    sums = np.log2(np.cumsum(sizes[order[::-1]], axis=0) + 1).sum(axis=1)
    together = np.count_nonzero(sums + np.log2(np.arange(len(order)) + 1) <= np.log2(MOST_BITS))
    drawn, fitted = np.split(order, [len(order) - together])
    left = sizes.sum(axis=0)
    for group in drawn.tolist():
        own = sizes[group]
        lacking = np.clip(wanted / np.maximum(left, 1), 0, 1)
        chosen[group] = chances[group] < own @ lacking / own.sum()
        left, wanted = left - own, wanted - own * chosen[group]
    fitted = fitted[np.argsort(places[fitted])]
    chosen[fitted] = _fitted(sizes[fitted], wanted)
    return chosen.tolist()


def _fitted(sizes: NDArray[np.int64], wanted: NDArray[np.float64]) -> list[bool]:
    """Of the sums that groups can have, by stratum, the one nearest to what is wanted; the first groups that reach it.

    First the whole sum counts, then the distance in the strata together, then fewer. All sums that the groups from one
    on can have are one whole number, with a bit for each sum, which a group shifts (subset sum by dynamic programming).
    """
    radices = sizes.sum(axis=0) + 1
    strides = np.cumprod([1, *radices[:-1]])
    steps = (sizes @ strides).tolist()
    reached = [1]
    for step in reversed(steps):
        reached.append(reached[-1] | reached[-1] << step)
    bits = np.frombuffer(reached[-1].to_bytes(reached[-1].bit_length() // 8 + 1, "little"), dtype=np.uint8)
    sums = np.flatnonzero(np.unpackbits(bits, bitorder="little"))
    total, uneven = np.zeros(len(sums), dtype=np.int64), np.zeros(len(sums))
    for stride, radix, aim in zip(strides, radices, wanted, strict=True):
        of_stratum = sums // stride % radix
        total += of_stratum
        uneven += np.abs(of_stratum - aim)
    goal = int(sums[np.lexsort((total, uneven.round(6), np.abs(total - wanted.sum()).round(6)))[0]])
    chosen = []
    for step, others in zip(steps, reversed(reached[:-1]), strict=True):
        is_test = goal >= step and bool(others >> (goal - step) & 1)
        goal -= step * is_test
        chosen.append(is_test)
    return chosen


def split_by_time(items: Sequence[SplitItem], *, test_share: float, seed: int) -> TimeSplit:
    """The split of each item, with the newest groups in test.

    The time of a group is that of its newest item, so nothing in dev that is free to go either way is newer than the
    boundary, the oldest time of a group that went to test. Groups of one time stand in the order of their hash, and as
    many of the newest go to test as bring its share of items nearest to `test_share`. Groups without any time are dev.
    Groups of an earlier version, and those that a system was trained on, are placed as `split` places them.
    """
    splits, free = _placed(items)
    wanted = test_share * len(items)
    taken = sum(name == TEST for name in splits.values())
    timed = [(at, group) for group in free if (at := time_of(group)) is not None]
    timed.sort(key=lambda each: _rank(each[1], seed))
    timed.sort(key=lambda each: each[0], reverse=True)
    boundary = None
    for at, group in timed:
        if abs(taken + len(group) - wanted) >= abs(taken - wanted):
            break  # nothing after it may go to test either: it is no newer
        taken, boundary = taken + len(group), at
        splits.update({item.name: TEST for item in group})
    splits.update({item.name: DEV for group in free for item in group if item.name not in splits})
    return TimeSplit(splits, boundary)


def time_of(group: Iterable[SplitItem]) -> datetime | None:
    """The time of its newest item; None where no item has one."""
    return max((item.at for item in group if item.at is not None), default=None)


def held_by_training(items: Sequence[SplitItem]) -> list[str]:
    """The items that are dev because a system was trained on them or on another of their group, by name."""
    return [
        item.name
        for group in groups(items)
        if any(item.is_trained for item in group) and not any(item.former for item in group)
        for item in group
    ]


def _placed(items: Sequence[SplitItem]) -> tuple[dict[str, str], list[list[SplitItem]]]:
    """The splits of the groups that an earlier version had or a system was trained on, and the groups that are free."""
    splits: dict[str, str] = {}
    free = []
    for group in groups(items):
        former = sorted({item.former for item in group if item.former})
        if not former and any(item.is_trained for item in group):
            splits.update({item.name: DEV for item in group})
            continue
        if not former:
            free.append(group)
            continue
        joins = former[0] if len(former) == 1 else DEV
        splits.update({item.name: item.former or joins for item in group})
    return splits, free


def _rank(group: Sequence[SplitItem], seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{group[0].name}".encode()).digest()


def leaks(items: Iterable[SplitItem], splits: Mapping[str, str]) -> list[Leak]:
    """Every tie with items in both splits, in the order of kind and first name."""
    held: defaultdict[Tie, dict[str, list[str]]] = defaultdict(lambda: {DEV: [], TEST: []})
    for item in items:
        for tie in ties_of(item):
            held[tie][splits[item.name]].append(item.name)
    crossing = (
        Leak(tie, tuple(sorted(names[DEV])), tuple(sorted(names[TEST])))
        for tie, names in held.items()
        if names[DEV] and names[TEST]
    )
    return sorted(crossing, key=lambda leak: (leak.tie.kind, leak.dev, leak.test))
