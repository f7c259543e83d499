"""A collection: its files on disk, from a folder or a zip, their judgements before the import, and their plans."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.common.database.scratch import Scratch
from apps.common.errors import InputErrors
from apps.common.files.faults import MAX_LISTED, fault
from apps.common.files.tabular import TableFile, open_source
from apps.corpus.core.documents import UnreadFile
from apps.corpus.core.import_plans import SAMPLES, ImportPlan
from apps.corpus.execution.document_reading import AUTO
from apps.corpus.formats.packages.unpacking import open_package
from apps.corpus.models import Snapshot
from apps.judging.execution.judgement_import import JudgementReader
from apps.judging.formats.judgements import SKIP, GradeMap, is_whole

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
QRELS = (".tsv", ".tsv.gz", ".txt", *ENDINGS)
QRELS_FOLDERS = ("qrels", "default", "data")
"""Where judgements are: BEIR's folder, and the default configuration of a data set of MTEB."""
MOST_SPLITS = 50
_SHARD = re.compile(r"-\d+-of-\d+\Z")


class CollectionFiles(NamedTuple):
    """The paths of a collection. `qrels` are those of its splits by name."""

    corpus: str
    queries: str
    qrels: dict[str, str]

    @property
    def all(self) -> list[str]:
        return [self.corpus, self.queries, *self.qrels.values()]


def files_of(paths: Iterable[str]) -> CollectionFiles:
    """The files among these paths. Raises ValueError with a sentence where one is missing or there are several."""
    found = list(paths)
    qrels: dict[str, str] = {}
    for path in sorted(found):
        folder, _, name = path.rpartition("/")
        ending = next((ending for ending in QRELS if name.endswith(ending)), "")
        if not ending or not (folder in QRELS_FOLDERS or path == f"qrels{ending}"):
            continue
        split = _SHARD.sub("", name.removesuffix(ending))
        if split in qrels:
            raise ValueError(f"{qrels[split]} and {path} are both the judgements of {split}; join them to one file")
        qrels[split] = path
    if not qrels:
        raise ValueError("there are no judgements: no qrels/test.tsv, nor another file in a folder qrels")
    if len(qrels) > MOST_SPLITS:
        raise ValueError(f"there are {len(qrels):,} files of judgements, and at most {MOST_SPLITS} splits are imported")
    return CollectionFiles(_only(found, "corpus"), _only(found, "queries"), qrels)


def _only(paths: list[str], what: str) -> str:
    known = [path for path in paths if path.endswith(ENDINGS) and re.match(rf"{what}(?:\.|/[^/]+\Z)", path)]
    if not known:
        raise ValueError(f"there is no {what}.jsonl, nor a file in a folder {what}")
    if len(known) > 1:
        raise ValueError(f"{known[0]} and {known[1]} are both {what}; join them to one file")
    return known[0]


class Collection(NamedTuple):
    """A collection whose files can be opened. `name` is that of its folder or zip, for messages."""

    name: str
    paths: CollectionFiles
    places: Mapping[str, Path]

    def opened(self, path: str) -> AbstractContextManager[TableFile]:
        """The file with this path in the collection, which its mistakes name."""
        return open_source(self.places[path], name=path)

    def splits(self, written: str) -> list[str]:
        """The splits whose judgements count: those written with commas between, or all for none.

        Raises InputErrors for one that is not there.
        """
        chosen = [split for split in written.split(",") if split]
        if strange := next((split for split in chosen if split not in self.paths.qrels), None):
            message = f"there are no judgements of the split {strange}. There are: {', '.join(self.paths.qrels)}"
            raise InputErrors([fault(self.name, None, "splits", strange, message)])
        return [split for split in self.paths.qrels if not chosen or split in chosen]

    def corpus_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with which its passages are imported. The corpus was chosen, not proposed: it may be emptied."""
        named = {name: options[name] for name in ("corpus", "name", "mode")}
        is_lines = not self.paths.corpus.endswith(".parquet")
        read = {"format": "beir" if is_lines else AUTO, "ids": "file", "recipe": ""}
        return {**read, "empties": named["corpus"], **named}

    def queries_options(self) -> dict[str, Any]:
        return {"format": _form(self.paths.queries, "beir"), "ids": "file", "source": ""}

    def judgements_options(self, split: str, snapshot: Snapshot, options: Mapping[str, Any]) -> dict[str, Any]:
        chosen = {name: options[name] for name in ("grades", "skip_unknown")}
        about = {"snapshot": str(snapshot.pk), "columns": "", "name": f"Split {split}"}
        return {"format": self.judgements_format(split), **about, **chosen}

    def judgements_format(self, split: str) -> str:
        path = self.paths.qrels[split]
        return _form(path, "jsonl" if ".jsonl" in path else "qrels")


def _form(path: str, usual: str) -> str:
    return "parquet" if path.endswith(".parquet") else usual


@contextmanager
def collection_at(path: Path, name: str) -> Iterator[Collection]:
    """The collection in a folder or a zip. Raises InputErrors that name what is no collection, or is not unpacked."""
    if path.is_dir():
        below = (each for each in sorted(path.rglob("*")) if each.is_file() and not each.is_symlink())
        places = {each.relative_to(path).as_posix(): each for each in below}
        yield Collection(name, _found(places, name), places)
        return
    with TemporaryDirectory(prefix="karat-") as folder, open_package(path, name) as package:
        if not package.is_archive:
            message = "this is no zip; pack the folder that has the corpus, the queries and the qrels as one"
            raise InputErrors([fault(name, None, "", "", message)])
        _refuse(package.refused())
        found = _found(package.inner_paths, name)
        places = {}
        for number, member in enumerate(found.all):
            for file in package.file(member):
                if isinstance(file, UnreadFile):
                    _refuse([file])
                    continue
                places[member] = Path(folder) / str(number)
                with places[member].open("wb") as out:
                    shutil.copyfileobj(file.stream, out)
        yield Collection(name, found, places)


def _found(paths: Iterable[str], name: str) -> CollectionFiles:
    try:
        return files_of(paths)
    except ValueError as reason:
        raise InputErrors([fault(name, None, "", "", f"this is no collection: {reason}")]) from None


def _refuse(unread: Iterable[UnreadFile]) -> None:
    errors = [fault(file.path, None, "", "", f"this file is not read: {file.reason}") for file in unread]
    if errors:
        raise InputErrors(errors[:MAX_LISTED], unlisted=len(errors[MAX_LISTED:]))


MOST_GRADES = 100
"""Grades that are counted by how files write them; a file with more has no grades in that column."""


class KnownIds:
    """The ids that a file brings, on disk, and those of rows that are here already and stay."""

    def __init__(self, ids: Iterable[str], stored: QuerySet[Any]) -> None:
        self._stored = stored
        self._scratch = Scratch("CREATE TABLE known (id TEXT PRIMARY KEY, number INTEGER) WITHOUT ROWID;")
        rows = ((each, number) for number, each in enumerate(ids, start=1))
        self._scratch.write("INSERT OR IGNORE INTO known VALUES (?, ?)", rows)

    def numbered(self, ids: set[str]) -> dict[str, int]:
        """A number for each of these ids that is known, another for each: below 0 for a stored row."""
        asked = [json.dumps([*ids])]
        rows = self._scratch.read("SELECT id, number FROM known WHERE id IN (SELECT value FROM json_each(?))", asked)
        found: dict[str, int] = dict(rows)
        if others := ids - found.keys():
            stored = self._stored.filter(outside_id__in=others).values_list("outside_id", "pk")
            found |= {outside_id: -pk for outside_id, pk in stored}
        return found


class PlannedReader(JudgementReader):
    """Reads judgements of passages and queries that will be here once the collection is."""

    not_a_query = "is not a query of the collection"
    not_a_passage = "is not a passage of the collection"

    def __init__(self, project: Project, source: TableFile, *, queries: KnownIds, passages: KnownIds) -> None:
        super().__init__(project, None, source)
        self._known_queries, self._known_passages = queries, passages

    def queries_named(self, ids: set[str]) -> dict[str, int]:
        return self._known_queries.numbered(ids)

    def facets_of(self, queries: Iterable[int]) -> dict[int, list[str]]:
        """None: the queries are not here yet."""
        return {}

    def blocks_named(self, ids: set[str]) -> dict[str, int]:
        return self._known_passages.numbered(ids)


class CountedGrades(Mapping[str, int | None]):
    """A grade map that counts what it is asked for. Without one, a whole number is the grade that it says."""

    def __init__(self, grades: GradeMap | None) -> None:
        self._grades = grades
        self.met: Counter[str] = Counter()

    def __contains__(self, written: object) -> bool:
        """Asked once for each row."""
        if written in self.met or len(self.met) < MOST_GRADES:
            self.met[str(written)] += 1
        return is_whole(str(written)) if self._grades is None else written in self._grades

    def __getitem__(self, written: str) -> int | None:
        return int(written) if self._grades is None else self._grades[written]

    def __iter__(self) -> Iterator[str]:
        return iter(self.met)

    def __len__(self) -> int:
        return len(self.met)

    def as_rows(self, scale: Iterable[int]) -> list[list[Any]]:
        """Each grade as files write it, what it becomes ("" while nobody has said it), and how many there are."""
        known = {str(grade) for grade in scale} | {SKIP}
        return [
            [written, becomes if (becomes := self._becomes(written)) in known else "", count]
            for written, count in sorted(self.met.items(), key=lambda met: _in_order(met[0]))
        ]

    def _becomes(self, written: str) -> str:
        if self._grades is None:
            return str(int(written)) if is_whole(written) else ""
        grade = self._grades.get(written, "")
        return SKIP if grade is None else str(grade)


def _in_order(written: str) -> tuple[bool, int, str]:
    return (not is_whole(written), int(written) if is_whole(written) else 0, written)


CORPUS, QUERIES, JUDGEMENTS = "corpus", "queries", "judgements"
WORDS = ["new", "changed", "unchanged", "gone"]
NOUNS = {CORPUS: ("block", "blocks"), QUERIES: ("query", "queries"), JUDGEMENTS: ("judgement", "judgements")}


class CollectionPart(NamedTuple):
    """One file: passages, queries, or the judgements of a split. `plan` is None while it is not read."""

    kind: str
    file: str
    plan: ImportPlan | None
    split: str = ""

    def as_json(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "kind": self.kind,
            "split": self.split,
            "file": self.file,
            "rows": plan.rows if plan else None,
            "counts": plan.counts if plan else {},
            "sentence": plan.sentence(*NOUNS[self.kind]) if plan else "",
            "notes": plan.notes if plan else [],
            "errors_total": plan.errors.total if plan else 0,
        }


def joined(parts: Sequence[CollectionPart], **more: Any) -> ImportPlan:
    """The plan of all parts: their figures added, their mistakes one after another, each group with its file.

    `more` are further values of its JSON.
    """
    whole = ImportPlan(WORDS)
    for plan in (part.plan for part in parts if part.plan is not None):
        whole.rows += plan.rows
        for word, number in plan.counts.items():
            whole.counts[word] += number
        whole.samples += plan.samples[:SAMPLES]
        whole.errors.absorb(plan.errors)
        whole.errors.absorb_warnings(plan.errors)
    whole.extra = {
        "parts": [part.as_json() for part in parts],
        "error_groups": _groups(parts, "groups"),
        "warning_groups": _groups(parts, "warning_groups"),
        **more,
    }
    return whole


def _groups(parts: Iterable[CollectionPart], name: str) -> list[dict[str, Any]]:
    found = [
        {**group, "file": part.file}
        for part in parts
        if part.plan is not None
        for group in getattr(part.plan.errors, name).as_json()
    ]
    return sorted(found, key=lambda group: -group["count"])
