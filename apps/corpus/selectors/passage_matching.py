"""Finds the passages of a snapshot that a table names: by id, document, address, title or text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from apps.common.database.bulk import chunks
from apps.common.files.near_ids import Proposal, path_of, propose_fit
from apps.common.text.words import plain_words
from apps.corpus.core.import_plans import TableChoice
from apps.corpus.core.near_duplicates import NOTHING, PassageText, TextMatches, near_texts, same_texts, text_key
from apps.corpus.core.table_plans import (
    FIRST_PASSAGES,
    FIT_PASSAGES,
    TableMessage,
    about_several,
    about_unknown_passages,
    near_match,
)
from apps.corpus.models import Snapshot, SnapshotBlock

TEXTS_AT_ONCE = 2_000


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
    return (PassageText(*row) for row in columns.iterator(chunk_size=TEXTS_AT_ONCE))


AT_ONCE = 500
LONG_TEXT = 30
"""The length from which a value can be the text of a passage."""
HOW = {
    "id": "by its id",
    "address": "by its address",
    "document": "by its document",
    "title": "by its title",
    "text": "by its text",
}


class NamedPassage(NamedTuple):
    """A passage of the snapshot. `rank` orders the passages of a document from its beginning."""

    version_id: int
    block_id: str
    rank: tuple[int, int, str]


class PassageMatches(NamedTuple):
    """The passages for the values of a column. `several` has the values that lead to more than one, the first first.

    `near` is a proposal for the values in `unknown`; its known ids are keys of `by_key`. `how` completes "Passage, …".
    """

    matched: dict[str, NamedPassage]
    several: dict[str, list[NamedPassage]]
    unknown: list[str]
    near: Proposal | None
    by_key: dict[str, list[NamedPassage]]
    how: str


def match_passages(snapshot: Snapshot, values: Iterable[str]) -> PassageMatches:
    """Match each value to the passages of the snapshot. Loads all keys of the snapshot only when ids are not enough."""
    wanted = list(dict.fromkeys(value for value in values if value))
    matched = _by_id(snapshot, wanted)
    rest = [value for value in wanted if value not in matched]
    if not rest:
        return PassageMatches(matched, {}, [], None, {}, HOW["id"])
    keys = _Keys(snapshot, with_texts=any(len(value) >= LONG_TEXT for value in rest))
    several: dict[str, list[NamedPassage]] = {}
    counts = {"id": len(matched)}
    unknown = []
    for value in rest:
        kind, found = keys.find(value)
        if len(found) == 1:
            matched[value] = found[0]
        elif found:
            several[value] = sorted(found, key=lambda passage: passage.rank)
        else:
            unknown.append(value)
        if found:
            counts[kind] = counts.get(kind, 0) + 1
    near, by_key = keys.near(unknown, [*matched, *several])
    kind = max(counts, key=lambda name: counts[name])
    how = HOW[kind] if counts[kind] else HOW["address" if any("/" in value for value in wanted) else "id"]
    return PassageMatches(matched, several, unknown, near, by_key, how)


def passages_that_count(
    matches: PassageMatches, rows: Mapping[str, int], snapshot: str, choice: TableChoice
) -> tuple[dict[str, NamedPassage], list[TableMessage]]:
    """The passage of each value, by the answers of the choice, and messages about values that stay out.

    `rows` counts the rows of each value, `snapshot` is the name of the snapshot.
    """
    found, several, unknown = dict(matches.matched), dict(matches.several), matches.unknown
    messages = []
    if matches.near:
        noun = ("address", "addresses") if any("/" in value for value in matches.near.fits) else ("passage", "passages")
        messages.append(near_match(matches.near, choice, FIT_PASSAGES, *noun))
        unknown = [value for value in unknown if value not in matches.near.fits]
        if FIT_PASSAGES in choice.answers:
            reached = {value: matches.by_key[key] for value, key in matches.near.fits.items()}
            found |= {value: passages[0] for value, passages in reached.items() if len(passages) == 1}
            several |= {value: passages for value, passages in reached.items() if len(passages) > 1}
    if several:
        messages.append(about_several({value: len(passages) for value, passages in several.items()}, choice))
        if FIRST_PASSAGES in choice.answers:
            found |= {value: min(passages, key=lambda one: one.rank) for value, passages in several.items()}
    if unknown:
        count = sum(rows[value] for value in unknown)
        messages.append(about_unknown_passages(unknown, count, snapshot, choice))
    return found, messages


def _by_id(snapshot: Snapshot, values: list[str]) -> dict[str, NamedPassage]:
    found = {}
    for part in chunks(values, AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__outside_id__in=part)
        for version, block_id in rows.values_list("version_id", "block__outside_id"):
            found[block_id] = NamedPassage(version, block_id, (0, 0, block_id))
    return found


class _Keys:
    """All names of the passages of a snapshot, by kind of name."""

    def __init__(self, snapshot: Snapshot, *, with_texts: bool) -> None:
        self.by_kind: dict[str, dict[str, list[NamedPassage]]] = {kind: {} for kind in HOW}
        for passage, names in _named(snapshot, with_texts=with_texts):
            for kind, name in names:
                if name:
                    self.by_kind[kind].setdefault(name, []).append(passage)

    def find(self, value: str) -> tuple[str, list[NamedPassage]]:
        """The kind of name, and the passages that have it."""
        for kind in ("address", "document"):
            if found := self.by_kind[kind].get(value):
                return kind, found
        plain = plain_words(value)
        for kind in ("title", "text"):
            if found := self.by_kind[kind].get(plain):
                return kind, found
        return "", []

    def near(self, unknown: list[str], taken: Iterable[str]) -> tuple[Proposal | None, dict[str, list[NamedPassage]]]:
        """The rule that makes most unknown values fit the names of one kind, and the passages of that kind.

        An address is compared by its path alone: with its site it would be two names of one passage.
        """
        best: Proposal | None = None
        names: dict[str, list[NamedPassage]] = {}
        for kind in ("id", "address", "document"):
            is_address = kind != "id" or any("/" in value for value in unknown)
            known = [name for name in self.by_kind[kind] if kind != "address" or name.startswith("/")]
            near = propose_fit(unknown, known, taken=taken, may_merge=is_address)
            if near and (best is None or len(near.fits) > len(best.fits)):
                best, names = near, self.by_kind[kind]
        return best, names


def _named(snapshot: Snapshot, *, with_texts: bool) -> Iterator[tuple[NamedPassage, list[tuple[str, str]]]]:
    columns = [
        "version_id",
        "block__outside_id",
        "block__document__outside_id",
        "version__metadata",
        "version__title",
        "version__section_path",
        "version__page_start",
        *(["version__text"] if with_texts else []),
    ]
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).order_by("position").values_list(*columns)
    for version, block_id, document, metadata, title, path, start, *text in rows.iterator(chunk_size=2_000):
        passage = NamedPassage(version, block_id, (start or 0, len(path), block_id))
        url = metadata.get("url") if isinstance(metadata, dict) else None
        names = [("id", block_id), ("document", document), ("title", plain_words(title))]
        if isinstance(url, str):
            page = url.partition("#")[0]
            names += [("address", name) for name in dict.fromkeys((url, page, f"/{path_of(url)}")) if path_of(url)]
        yield passage, names + [("text", plain_words(one)) for one in text]
