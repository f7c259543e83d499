"""What the plan of an import of documents shows: files by kind, what stays unread, lengths, passages to read."""

import hashlib
from bisect import insort
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from apps.common.text.wording import plural
from apps.corpus.core.documents import TableColumns

SAMPLES = 10
SAMPLE_LETTERS = 6_000
TABLES = 3
PATHS_LISTED = 200
MOST_BINS = 13
BIN_WIDTHS = (10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000)
NEARLY_ALL = 0.95
"""The share of passages that a histogram gives their own bins; the longest share the last one."""


class CutPassage(NamedTuple):
    """A passage as it is counted. `kind` is that of its file."""

    passage_id: str
    document_id: str
    title: str
    section_path: tuple[str, ...]
    text: str
    page_start: int | None
    page_end: int | None
    kind: str
    words: int
    has_table: bool = False
    has_code: bool = False
    is_own: bool = False
    """Whether the file brought it as a passage, so that no recipe cut it."""


class DocumentTally:
    """Counts passages and files as they are read, in constant memory but for one number for each length."""

    def __init__(self) -> None:
        self.unread: dict[str, list[str]] = {}
        self.unread_counts: Counter[str] = Counter()
        self._cut_off: set[str] = set()
        self.text_endings: dict[str, Counter[str]] = {}
        self.notes: Counter[str] = Counter()
        self._files: Counter[str] = Counter()
        self._passages: Counter[str] = Counter()
        self._own: set[str] = set()
        self._lengths: Counter[int] = Counter()
        self._columns: dict[tuple[str, ...], dict[str, Any]] = {}
        self._samples = _Smallest(SAMPLES)
        self._tables, self._codes = _Smallest(1), _Smallest(1)

    @property
    def files_read(self) -> int:
        return sum(self._files.values())

    @property
    def passages(self) -> int:
        return sum(self._passages.values())

    @property
    def files_unread(self) -> int:
        return sum(self.unread_counts.values())

    def add_file(self, kind: str) -> None:
        self._files[kind] += 1

    def add_unread(self, path: str, reason: str, text_ending: str = "", files: int = 1) -> None:
        """`text_ending` is the ending of a file that could be read as text; `files`, how many the path stands for."""
        self.unread_counts[reason] += files
        if text_ending:
            self.text_endings.setdefault(reason, Counter())[text_ending] += 1
        listed = self.unread.setdefault(reason, [])
        if len(listed) == PATHS_LISTED:
            self._cut_off.add(reason)
        else:
            listed.append(path if files == 1 else f"{path}: {plural(files, 'file')}")

    def add_columns(self, table: TableColumns) -> None:
        """Those of the first tables, once for the same headings."""
        if len(self._columns) < TABLES:
            self._columns.setdefault(tuple(table.headings), table._asdict())

    def add_passage(self, passage: CutPassage) -> None:
        self._passages[passage.kind] += 1
        if passage.is_own:
            self._own.add(passage.kind)
        self._lengths[passage.words] += 1
        place = self.passages
        self._samples.offer(place, passage)
        if passage.has_table:
            self._tables.offer(place, passage)
        if passage.has_code:
            self._codes.offer(place, passage)

    def unread_words(self) -> str:
        """The files that stay unread by reason: "scanned PDF without text: 3 files, PNG picture: 1 file"."""
        return ", ".join(f"{reason}: {plural(number, 'file')}" for reason, number in self.unread_counts.most_common())

    def as_json(self, titles: Mapping[str, str]) -> dict[str, Any]:
        """The figures for the plan. `titles` names the kinds of files, in their order."""
        return {
            "files": [
                {"kind": kind, "title": title, "files": self._files[kind], "passages": self._passages[kind]}
                | ({"own": True} if kind in self._own else {})
                for kind, title in titles.items()
                if self._files[kind]
            ],
            "files_read": self.files_read,
            "unread": [
                {"reason": reason, "files": number, "paths": self.unread[reason], **self._more(reason)}
                for reason, number in self.unread_counts.most_common()
            ],
            "files_unread": self.files_unread,
            "lengths": _lengths(self._lengths),
            "samples": self._chosen(),
            "tables": list(self._columns.values()),
        }

    def _more(self, reason: str) -> dict[str, Any]:
        """How many of the files could be read as text, and their endings; that not all of them are listed."""
        endings = self.text_endings.get(reason)
        as_text = {"as_text": {"files": endings.total(), "endings": sorted(endings)}} if endings else {}
        return as_text | ({"more": True} if reason in self._cut_off else {})

    def _chosen(self) -> list[dict[str, Any]]:
        """The samples in the order of the files; a table and code are among them when there are any."""
        wanted = {**self._tables.by_place(), **self._codes.by_place()}
        for place, passage in self._samples.in_order():
            if len(wanted) < SAMPLES:
                wanted[place] = passage
        return [_sample(wanted[place]) for place in sorted(wanted)]


class _Smallest:
    """The passages whose ids have the smallest digests: a choice all over the corpus that every reading repeats."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._chosen: list[tuple[bytes, int, CutPassage]] = []

    def offer(self, place: int, passage: CutPassage) -> None:
        rank = hashlib.sha256(passage.passage_id.encode()).digest()
        if len(self._chosen) < self._most or rank < self._chosen[-1][0]:
            insort(self._chosen, (rank, place, passage))
            del self._chosen[self._most :]

    def in_order(self) -> list[tuple[int, CutPassage]]:
        return [(place, passage) for _, place, passage in self._chosen]

    def by_place(self) -> dict[int, CutPassage]:
        return dict(self.in_order())


def _sample(passage: CutPassage) -> dict[str, Any]:
    text = passage.text
    shown = text if len(text) <= SAMPLE_LETTERS else f"{text[:SAMPLE_LETTERS].rstrip()}…"
    return {
        "change": "",
        "id": passage.passage_id,
        "document": passage.document_id,
        "title": passage.title,
        "section": list(passage.section_path),
        "text": shown,
        "page_start": passage.page_start,
        "page_end": passage.page_end,
        "kind": passage.kind,
        "words": passage.words,
        "has_table": passage.has_table,
        "has_code": passage.has_code,
    }


def _lengths(lengths: Counter[int]) -> dict[str, Any]:
    """The lengths in words as a histogram; the last bin has no upper end. Empty for no passages."""
    if not lengths:
        return {}
    total = lengths.total()
    width = next((w for w in BIN_WIDTHS if _share(lengths, NEARLY_ALL) < w * (MOST_BINS - 1)), BIN_WIDTHS[-1])
    bins: Counter[int] = Counter()
    for words, number in lengths.items():
        bins[min(words // width, MOST_BINS - 1)] += number
    last = max(bins)
    return {
        "bins": [
            {
                "from": place * width,
                "to": (place + 1) * width if place < MOST_BINS - 1 else None,
                "passages": bins[place],
            }
            for place in range(last + 1)
        ],
        "min": min(lengths),
        "median": _share(lengths, 0.5),
        "max": max(lengths),
        "words": sum(words * number for words, number in lengths.items()),
        "passages": total,
    }


def _share(lengths: Counter[int], share: float) -> int:
    """The length that this share of the passages is not above."""
    left = share * lengths.total()
    for words in sorted(lengths):
        left -= lengths[words]
        if left <= 0:
            return words
    return max(lengths)
