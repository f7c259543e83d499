"""A new edition beside the snapshot before it: from two snapshots, or from what an import would make."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from apps.common.database.bulk import chunks
from apps.corpus.core.passage_ids import metadata_digest
from apps.corpus.enums import ImportMode
from apps.corpus.formats.rows import BlockRow, digests_of
from apps.corpus.models import Block, BlockVersion, Corpus, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import TextKey, texts_in
from apps.editions.core.comparison import EditionPassage, PassageChange, compare, mark_of
from apps.editions.enums import ChangeKind

AT_ONCE = 5_000


class NewText(NamedTuple):
    """A passage as the new edition has it. `version_id` is None before the edition is taken."""

    title: str
    section_path: Sequence[str]
    text: str
    version_id: int | None = None


class StoredPassage(NamedTuple):
    """A passage in one of the snapshots. `text` is the digest of its title and text."""

    block_id: int
    version_id: int
    text: str


@dataclass(frozen=True)
class Edition:
    """What a new edition makes of the passages of `before`. `after` is None before it is taken.

    `changes` has all passages but those that are the same; `old` and `new` have them by their names as `before` and
    `after` have them, and `old` has the others too before the edition is taken. `planned` has the new texts of an
    import.
    """

    before: Snapshot
    after: Snapshot | None
    passages: int
    changes: list[PassageChange]
    old: Mapping[str, StoredPassage]
    planned: Mapping[str, NewText]
    new: Mapping[str, StoredPassage]

    @cached_property
    def _read(self) -> dict[int, BlockVersion]:
        return {}

    @cached_property
    def texts(self) -> Mapping[TextKey, int]:
        """All texts of the snapshot before, each with the key of its block version."""
        if self.after is not None:
            return texts_in(self.before)
        return {TextKey(passage.block_id, passage.text): passage.version_id for passage in self.old.values()}

    @property
    def same(self) -> int:
        return self.passages - sum(change.after is not None for change in self.changes)

    @cached_property
    def counts(self) -> dict[ChangeKind, int]:
        """The number of passages of each kind, all six."""
        found = Counter(change.kind for change in self.changes)
        return {kind: self.same if kind == ChangeKind.SAME else found[kind] for kind in ChangeKind}

    @cached_property
    def kinds(self) -> dict[int, ChangeKind]:
        """The kind of each old block version; those that are the same are left out."""
        named = ((change.kind, change.before) for change in self.changes)
        return {self.old[before.name].version_id: kind for kind, before in named if before is not None}

    def kind_of(self, version: int) -> ChangeKind:
        """The kind of an old block version."""
        return self.kinds.get(version, ChangeKind.SAME)

    @property
    def mark(self) -> str:
        """A digest of the changes, to notice when they are no longer those that were shown."""
        return mark_of(self.changes)

    def of(self, kind: ChangeKind) -> list[PassageChange]:
        return [change for change in self.changes if change.kind == kind]

    def old_of(self, change: PassageChange) -> StoredPassage:
        """The old passage of a change that has one."""
        assert change.before is not None
        return self.old[change.before.name]

    def new_texts(self, names: Iterable[str]) -> dict[str, NewText]:
        """The new texts of these passages of the new edition; each is read once."""
        wanted = list(names)
        if self.after is None:
            return {name: self.planned[name] for name in wanted}
        versions = self.versions(self.new[name].version_id for name in wanted)
        return {name: _text_of(versions[self.new[name].version_id]) for name in wanted}

    def versions(self, keys: Iterable[int]) -> dict[int, BlockVersion]:
        """These block versions with their documents; each is read once."""
        wanted = list(keys)
        for part in chunks(dict.fromkeys(key for key in wanted if key not in self._read), AT_ONCE):
            versions = BlockVersion.objects.filter(pk__in=part).select_related("block__document")
            self._read.update((version.pk, version) for version in versions)
        return {key: self._read[key] for key in wanted}

    def read(self, compared: Iterable[PassageChange], new: Iterable[PassageChange]) -> None:
        """Read both texts of the compared passages and those of the new ones at once, before they are asked for."""
        both = list(compared)
        read = [self.old_of(change) for change in both]
        if self.after is not None:
            read += [self.new[change.name] for change in [*both, *new]]
        self.versions(passage.version_id for passage in read)


def _text_of(version: BlockVersion) -> NewText:
    return NewText(version.title, version.section_path, version.text, version.pk)


def between(before: Snapshot, after: Snapshot) -> Edition:
    """The edition `after` beside `before`; reads only the passages that differ."""
    rows, new_rows = _differing(before, after)
    changes = compare(_passages(rows), _passages(new_rows))
    return Edition(before, after, after.block_count, changes, _stored(rows), {}, _stored(new_rows))


COLUMNS = (
    "block__outside_id",
    "version__text_digest",
    "version__digest",
    "version__metadata_digest",
    "block_id",
    "version_id",
)
Row = tuple[str, str, str, str, int, int]


def _differing(before: Snapshot, after: Snapshot) -> tuple[list[Row], list[Row]]:
    """The passages of each snapshot that the other does not have in exactly this version, in its order."""
    found: dict[int, list[Row]] = {before.pk: [], after.pk: []}
    columns = ("snapshot_id", "position", *COLUMNS)
    only_old = _missing(before, after).values_list(*columns)
    only_new = _missing(after, before).values_list(*columns)
    for snapshot, _, *row in only_old.union(only_new, all=True).order_by("snapshot_id", "position"):
        found[snapshot].append((*row,))
    return found[before.pk], found[after.pk]


def _missing(one: Snapshot, other: Snapshot) -> QuerySet[SnapshotBlock]:
    same = SnapshotBlock.objects.filter(snapshot=other, version=OuterRef("version"))
    return SnapshotBlock.objects.filter(~Exists(same), snapshot=one)


def _rows(entries: QuerySet[SnapshotBlock]) -> list[Row]:
    return list(entries.order_by("position").values_list(*COLUMNS))


def _stored(rows: Iterable[Row]) -> dict[str, StoredPassage]:
    return {row[0]: StoredPassage(row[4], row[5], row[1]) for row in rows}


def _passages(rows: Iterable[Row]) -> Iterator[EditionPassage]:
    return (EditionPassage(name, text, rest + facts) for name, text, rest, facts, *_ in rows)


def planned(before: Snapshot, corpus: Corpus, rows: Iterable[BlockRow], mode: str) -> Edition:
    """The edition that importing these rows and freezing would make, beside `before`. Writes nothing."""
    old_rows = _rows(SnapshotBlock.objects.filter(snapshot=before))
    known = {passage.name: passage for passage in _passages(old_rows)}
    new = {} if mode == ImportMode.REPLACE else _current(corpus)
    texts: dict[str, NewText] = {}
    for row in rows:
        passage = _passage(row)
        new[row.block_id] = passage
        if known.get(row.block_id) != passage:
            texts[row.block_id] = NewText(row.title, row.section_path, row.text)
    _add_current(texts, corpus, [name for name, passage in new.items() if known.get(name) != passage])
    changes = [change for change in compare(known.values(), new.values()) if change.kind != ChangeKind.SAME]
    return Edition(before, None, len(new), changes, _stored(old_rows), texts, {})


def _passage(row: BlockRow) -> EditionPassage:
    digests = digests_of(row)
    return EditionPassage(row.block_id, digests.text, digests.version + metadata_digest(row.metadata))


def _current(corpus: Corpus) -> dict[str, EditionPassage]:
    """The passages of the corpus as it is now."""
    rows = Block.objects.filter(corpus=corpus, current__isnull=False).values_list(
        "outside_id", "current__text_digest", "current__digest", "current__metadata_digest"
    )
    return {
        name: EditionPassage(name, text, rest + facts) for name, text, rest, facts in rows.iterator(chunk_size=AT_ONCE)
    }


def _add_current(texts: dict[str, NewText], corpus: Corpus, names: Iterable[str]) -> None:
    """Add the texts that stay in the corpus and are not in the file."""
    for part in chunks([name for name in names if name not in texts], AT_ONCE):
        versions = BlockVersion.objects.filter(block__corpus=corpus, block__outside_id__in=part)
        current = versions.filter(pk__in=Block.objects.filter(corpus=corpus).values("current")).select_related("block")
        for version in current:
            texts[version.block.outside_id] = _text_of(version)
