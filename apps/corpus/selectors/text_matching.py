"""Finds texts among the passages of a snapshot."""

from collections.abc import Iterable, Iterator

from apps.corpus.core.text_matching import NOTHING, PassageText, TextMatches, near_texts, same_texts, text_key
from apps.corpus.models import Snapshot, SnapshotBlock

AT_ONCE = 2_000


def match_texts(snapshot: Snapshot, texts: Iterable[str]) -> TextMatches:
    """The passages with these texts. The texts of the snapshot are read once, and again where one is not there."""
    wanted = {key: text for text in texts if (key := text_key(text))}
    if not wanted:
        return NOTHING
    exact = same_texts(wanted, _passages(snapshot))
    rest = {key: text for key, text in wanted.items() if key not in exact}
    return TextMatches(exact, near_texts(rest, _passages(snapshot)) if rest else {})


def _passages(snapshot: Snapshot) -> Iterator[PassageText]:
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position")
    columns = rows.values_list("block__outside_id", "version__title", "version__text")
    return (PassageText(*row) for row in columns.iterator(chunk_size=AT_ONCE))
