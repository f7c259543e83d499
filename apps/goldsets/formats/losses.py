"""What each form of an export does not hold of a version, and which import reads it back.

`python -m apps.goldsets.formats.losses docs/reference/files.md` writes the table in the reference.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

BEGIN, END = "<!-- losses: written by apps.goldsets.formats.losses -->", "<!-- end of losses -->"
HEADING = ("| form | read back by the import of | what it loses |", "| --- | --- | --- |")


class Loss(NamedTuple):
    """`read_by` names the imports, empty where none reads it. `lost` is empty when the form holds all it is given."""

    read_by: str
    lost: str

    @property
    def words(self) -> str:
        """As pages have it, which say Q&As for triples."""
        return f"Loses {self.lost}. Read back by the import of {self.read_by}.".replace("triples", "Q&As")


ALL_BUT = "everything but"
LOSSES: dict[str, Loss] = {
    "jsonl": Loss("corpus, queries, triples, judgements", "nothing"),
    "csv": Loss("judgements", f"{ALL_BUT} the grade of each pair, with the query's text and the notes"),
    "trec": Loss(
        "judgements, queries",
        "of grades their resolution and number of judges; of queries all but id, text, description and intent, and"
        " their line ends; passages and triples",
    ),
    "beir": Loss(
        "corpus, queries, judgements",
        "of grades their resolution and number of judges; of queries all but id, text, split and source; of passages"
        " the title of their document and their metadata; triples",
    ),
    "parquet": Loss("corpus, queries, triples, judgements", "nothing"),
    "rag": Loss("triples", "authors, reviewers, dates and resolution of triples; grades and passages nobody expects"),
    "ragas": Loss("triples", f"{ALL_BUT} question, answer, and the expected passages with their ids"),
    "yaml": Loss("triples", f"{ALL_BUT} triples, which are whole"),
    "judgements": Loss(
        "judgements", f"{ALL_BUT} the answers of people; of these their names, and the passages that they marked"
    ),
    "huggingface": Loss(
        "corpus, queries, triples, judgements", "of grades their resolution and number of judges, as loaders expect it"
    ),
}


def table() -> str:
    rows = [f"| `{form}` | {loss.read_by or 'none'} | {loss.lost} |" for form, loss in LOSSES.items()]
    return "\n".join([*HEADING, *rows])


def with_table(text: str) -> str:
    """The document with the table between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text()))
