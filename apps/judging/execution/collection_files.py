"""The files of a collection on disk: those of a folder, or those of a zip, unpacked within the limits of packages."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from apps.common.errors import InputErrors
from apps.common.files.faults import MAX_LISTED, fault
from apps.common.files.tabular import TableFile, open_source
from apps.corpus.core.documents import UnreadFile
from apps.corpus.execution.document_reading import AUTO
from apps.corpus.formats.packages import open_package
from apps.corpus.models import Snapshot
from apps.judging.formats.collections import CollectionFiles, files_of


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
        """The options with which its passages are imported."""
        named = {name: options[name] for name in ("corpus", "name", "mode")}
        is_lines = not self.paths.corpus.endswith(".parquet")
        return {"format": "beir" if is_lines else AUTO, "ids": "file", "recipe": "", **named}

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
