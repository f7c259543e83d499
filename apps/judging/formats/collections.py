"""The files of a collection: a folder as BEIR has it, or as the data sets of MTEB have it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

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
