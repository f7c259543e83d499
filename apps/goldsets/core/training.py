"""What a list of training data names, and how the questions of a version are found in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from apps.common.digests import digest_of_lines, sha256_hex
from apps.goldsets.core.splits import words_digest
from apps.goldsets.enums import EntryKind, KnownBy


class Entry(NamedTuple):
    """One line of a training manifest: an `EntryKind` and the id or the text hash."""

    kind: str
    value: str


class TrainingPassage(NamedTuple):
    """A passage that a question expects; `texts` are its own and those of marked evidence."""

    block: str
    document: str
    texts: tuple[str, ...] = ()


class Traceable(NamedTuple):
    """A question with all by which a list of training data may know it."""

    name: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    passages: tuple[TrainingPassage, ...] = ()


class Match(NamedTuple):
    """The name of a training manifest that has the question, and by what."""

    manifest: str
    by: KnownBy

    @property
    def words(self) -> str:
        return f"“{self.manifest}” {self.by.label}"


class Known(NamedTuple):
    """What is known from training: questions by name, and by manifest the questions one of whose passages it has."""

    questions: Mapping[str, tuple[Match, ...]]
    passages: Mapping[str, frozenset[str]]


Lookup = Callable[[Collection[Entry]], Iterable[tuple[Entry, str]]]
"""Finds which of the entries are in which manifests, by their names."""


def text_digests(text: str) -> set[str]:
    """The hashes by which a list may name a text: of its words, and of exactly its bytes in UTF-8."""
    digest = words_digest(text)
    return {digest, sha256_hex(text.encode())} if digest else set()


def entries_digest(entries: Iterable[Entry]) -> str:
    """SHA-256 over the different entries in bytewise order: the same for every file that names the same."""
    return digest_of_lines(sorted({f"{kind} {value}" for kind, value in entries}, key=str.encode))


def find_known(items: Iterable[Traceable], lookup: Lookup, *, with_hashes: bool = True) -> Known:
    """What of the questions the manifests have. Hashes are only made where a manifest has some."""
    questions: defaultdict[Entry, list[tuple[str, KnownBy]]] = defaultdict(list)
    passages: defaultdict[Entry, set[str]] = defaultdict(set)
    for item in items:
        for entry, by in _of_question(item, with_hashes=with_hashes):
            questions[entry].append((item.name, by))
        for entry in _of_passages(item, with_hashes=with_hashes):
            passages[entry].add(item.name)
    found: defaultdict[str, set[Match]] = defaultdict(set)
    beside: defaultdict[str, set[str]] = defaultdict(set)
    for entry, manifest in lookup(questions.keys() | passages.keys()):
        for name, by in questions.get(entry, ()):
            found[name].add(Match(manifest, by))
        beside[manifest] |= passages.get(entry, set())
    return Known(
        {name: tuple(sorted(matches)) for name, matches in sorted(found.items())},
        {manifest: frozenset(names) for manifest, names in sorted(beside.items()) if names},
    )


def _of_question(item: Traceable, *, with_hashes: bool) -> Iterator[tuple[Entry, KnownBy]]:
    for outside_id in item.ids:
        yield Entry(EntryKind.QUESTION, outside_id), KnownBy.ID
    if not with_hashes:
        return
    for text in item.texts:
        for digest in text_digests(text):
            yield Entry(EntryKind.TEXT, digest), KnownBy.WORDS
        for passage in item.passages:
            for beside in passage.texts:
                if digest := words_digest(f"{text} {beside}"):
                    yield Entry(EntryKind.TEXT, digest), KnownBy.PAIR


def _of_passages(item: Traceable, *, with_hashes: bool) -> Iterator[Entry]:
    for passage in item.passages:
        yield Entry(EntryKind.BLOCK, passage.block)
        yield Entry(EntryKind.DOCUMENT, passage.document)
        if with_hashes:
            for text in passage.texts:
                yield from (Entry(EntryKind.TEXT, digest) for digest in text_digests(text))


def counted_entries(counts: Mapping[str, int]) -> str:
    """ "3 ids of questions, 1 text hash", by kind."""
    return ", ".join(f"{counts[kind]:,} {_of(kind, counts[kind])}" for kind in EntryKind if counts.get(kind))


def _of(kind: EntryKind, number: int) -> str:
    if number == 1:
        return str(kind.label)
    return "text hashes" if kind == EntryKind.TEXT else f"ids of {kind.label.split()[-1]}s"
