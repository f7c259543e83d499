"""The names of the passages of one page."""

from collections.abc import Iterable

from apps.corpus.core.naming import Place, told_apart
from apps.corpus.models import Block, BlockVersion, SnapshotBlock


def places_of(versions: Iterable[BlockVersion]) -> dict[int, str]:
    """What to show beside the title of each version of one page, by key of its block. Select `block__document`."""
    return _places((version, version.block) for version in versions)


def places_of_entries(entries: Iterable[SnapshotBlock]) -> dict[int, str]:
    """The same for entries of a snapshot. Select `version` and `block__document`."""
    return _places((entry.version, entry.block) for entry in entries)


def _places(passages: Iterable[tuple[BlockVersion, Block]]) -> dict[int, str]:
    by_block = {block.pk: _place(version, block) for version, block in passages}
    return dict(zip(by_block, told_apart(list(by_block.values())), strict=True))


def _place(version: BlockVersion, block: Block) -> Place:
    document = block.document
    return Place(version.title, document.title, document.outside_id, version.section_path, block.outside_id)
