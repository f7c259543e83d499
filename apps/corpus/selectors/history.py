"""The history of a block's texts, and their word differences."""

from typing import NamedTuple

from apps.common.text.worddiff import Piece, word_diff
from apps.corpus.models import Block, BlockVersion, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import snapshots_holding, versions_of

MAX_COMPARED = 20_000


class Text(NamedTuple):
    """One version in the history of a block. `pieces` is the word difference from the previous one."""

    version: BlockVersion
    is_current: bool
    snapshots: list[Snapshot]
    pieces: list[Piece] | None

    @property
    def dialog(self) -> str:
        """The id of the dialog that redacts this text."""
        return f"redact-{self.version.pk}"


class ChangedBlock(NamedTuple):
    """One block that differs between two snapshots. `pieces` is None when the texts are too long to compare."""

    entry: SnapshotBlock
    old: BlockVersion
    title: list[Piece]
    pieces: list[Piece] | None
    place: tuple[str, str] | None
    facts: list[tuple[str, object, object]]


def texts_of(block: Block) -> list[Text]:
    """Newest first."""
    holding = snapshots_holding(block)
    versions = list(versions_of(block))
    earlier: list[BlockVersion | None] = [*versions[1:], None]
    return [
        Text(
            version,
            version.pk == block.current_id,
            holding.get(version.pk, []),
            compared(before, version) if before else None,
        )
        for version, before in zip(versions, earlier, strict=True)
    ]


def word_diffs(entries: list[SnapshotBlock]) -> list[ChangedBlock]:
    """The word differences of entries that have `old_version_id`."""
    old = BlockVersion.objects.in_bulk([entry.old_version_id for entry in entries])  # type: ignore[attr-defined]
    rows = []
    for entry in entries:
        before = old[entry.old_version_id]  # type: ignore[attr-defined]
        places = place_of(before), place_of(entry.version)
        rows.append(
            ChangedBlock(
                entry,
                before,
                word_diff(before.title, entry.version.title),
                compared(before, entry.version),
                places if places[0] != places[1] else None,
                facts_of(before, entry.version),
            )
        )
    return rows


def facts_of(before: BlockVersion, after: BlockVersion) -> list[tuple[str, object, object]]:
    """The differences of metadata: name, value before, value after; None for a missing value."""
    names = [*before.metadata, *(name for name in after.metadata if name not in before.metadata)]
    values = [(name, before.metadata.get(name), after.metadata.get(name)) for name in names]
    return [(name, old, new) for name, old, new in values if old != new]


def compared(before: BlockVersion, after: BlockVersion) -> list[Piece] | None:
    """The word difference of two texts; None when one is redacted or they are too long to compare on a page."""
    if before.redacted_at or after.redacted_at or len(before.text) + len(after.text) > MAX_COMPARED:
        return None
    return word_diff(before.text, after.text)


def place_of(version: BlockVersion) -> str:
    """Section path and pages in words, to show where a block has moved."""
    pages = [str(page) for page in (version.page_start, version.page_end) if page is not None]
    path = " / ".join(version.section_path) or "no section"
    return f"{path}, page {'–'.join(dict.fromkeys(pages))}" if pages else path
