"""Qrels with their queries, as TREC and BEIR have them, or with features, as LETOR has them. Only judged pairs are
written.

TREC: qrels of four columns, also by subtopic, topics with tags, and the ids of unanswerable queries. BEIR:
corpus.jsonl, queries.jsonl and for each split a qrels file with a heading line. LETOR: for each split lines of
SVMlight, whose features are the scores of runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, Any

from apps.goldsets.formats.content import Content, FrozenBlock, FrozenQuery, GradeRow, Unwritable, in_order
from apps.triples.formats.entry import as_line

PIECE_BYTES = 1 << 16
SPACE = re.compile(r"\s")
TAG = re.compile(r"</?(top|num|title|desc|narr|subtopic)\b", re.IGNORECASE)


def trec_files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The qrels of each split are taken from those of all as these are written, as are those of subtopics: grades are
    read once.
    """
    splits = sorted({row.split for row in content.queries() if row.split})
    facets = {row.query_id: row.facet_ids for row in content.queries() if row.facets}
    with ExitStack() as stack:
        apart: dict[str, IO[bytes]] = {split: stack.enter_context(TemporaryFile()) for split in splits}
        diverse = stack.enter_context(TemporaryFile())
        yield "trec/qrels.txt", _trec_qrels(content, apart, facets, diverse)
        for split, lines in apart.items():
            yield f"trec/qrels.{split}.txt", _pieces(lines)
        if facets:
            yield "trec/diversity-qrels.txt", _pieces(diverse)
    unanswerable = sorted(row.query_id for row in content.queries() if row.unanswerable is not None)
    if unanswerable:
        yield "trec/unanswerable.txt", (f"{query_id}\n".encode() for query_id in unanswerable)
    yield "trec/topics.txt", (_topic(row) for row in in_order(content.queries(), lambda r: (r.query_id,)))


def _trec_qrels(
    content: Content, apart: Mapping[str, IO[bytes]], facets: Mapping[str, Sequence[str]], diverse: IO[bytes]
) -> Iterator[bytes]:
    for row in in_order(content.grades(), lambda r: (r.query_id, r.block_id)):
        line = _trec_qrel(row)
        if row.split in apart:
            apart[row.split].write(line)
        diverse.writelines(_facet_qrels(row, facets.get(row.query_id, ())))
        yield line


def _facet_qrels(row: GradeRow, facets: Sequence[str]) -> Iterator[bytes]:
    """As ndeval reads them: a line for each subtopic of the query, with the grade where the block answers it, else 0.

    None for a pair where nobody was asked. A grade without subtopics is 0 for each.
    """
    if row.facets is not None:
        for facet in facets:
            grade = row.grade if facet in row.facets else min(row.grade, 0)
            yield f"{row.query_id} {facet} {row.block_id} {grade}\n".encode()


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(PIECE_BYTES):
        yield piece


def _trec_qrel(row: GradeRow) -> bytes:
    return f"{_plain(row.query_id, 'query')} 0 {_plain(row.block_id, 'block')} {row.grade}\n".encode()


def _topic(row: FrozenQuery) -> bytes:
    parts = [f"<num> Number: {_plain(row.query_id, 'query')}", f"<title> {_one_line(row, row.text)}"]
    if row.description:
        parts += ["<desc> Description:", _one_line(row, row.description)]
    if row.intent:
        parts += ["<narr> Narrative:", _one_line(row, row.intent)]
    for facet in row.facets:
        parts.append(f'<subtopic number="{facet["id"]}"> {_one_line(row, facet["words"])} </subtopic>')
    return ("<top>\n\n" + "\n\n".join(parts) + "\n\n</top>\n\n").encode()


def _plain(outside_id: str, what: str) -> str:
    """The id, if readers return it unchanged: white space separates columns, `#` begins a comment."""
    if SPACE.search(outside_id):
        raise Unwritable(
            f"The {what} id {outside_id!r} contains white space, which separates the columns of a TREC or LETOR file. "
            "Export JSONL, CSV or BEIR, or import with ids without it."
        )
    if not outside_id or outside_id.startswith("#"):
        raise Unwritable(
            f"The {what} id {outside_id!r} would be read as a comment in a TREC or LETOR file. "
            "Export JSONL, CSV or BEIR, or import with other ids."
        )
    return outside_id


def _one_line(row: FrozenQuery, text: str) -> str:
    if tag := TAG.search(text):
        raise Unwritable(
            f"Query {row.query_id!r} contains {tag.group()!r}, which TREC readers parse as a tag. "
            "Export JSONL, CSV or BEIR."
        )
    return " ".join(text.split())


BEIR_HEADING = b"query-id\tcorpus-id\tscore\n"


def beir_files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield (
        "beir/corpus.jsonl",
        (as_line(_document(r)) for r in in_order(content.blocks(), lambda r: (r.block_id,))),
    )
    for split in sorted({row.split for row in content.queries()}):
        yield f"beir/qrels/{split or 'all'}.tsv", _beir_qrels(content, split)
    yield (
        "beir/queries.jsonl",
        (as_line(_query(r)) for r in in_order(content.queries(), lambda r: (r.query_id,))),
    )


def _document(row: FrozenBlock) -> dict[str, Any]:
    metadata = {
        "document_id": row.document_id,
        "section": list(row.section),
        "page_start": row.page_start,
        "page_end": row.page_end,
    }
    return {"_id": row.block_id, "title": row.title, "text": row.text, "metadata": metadata}


def _query(row: FrozenQuery) -> dict[str, Any]:
    return {"_id": row.query_id, "text": row.text, "metadata": {"split": row.split, "source": row.source}}


def _beir_qrels(content: Content, split: str) -> Iterator[bytes]:
    yield BEIR_HEADING
    yield from map(_beir_qrel, in_order(content.grades(split), lambda r: (r.query_id, r.block_id)))


def _beir_qrel(row: GradeRow) -> bytes:
    for what, outside_id in (("query", row.query_id), ("block", row.block_id)):
        if any(mark in outside_id for mark in "\t\n\r"):
            raise Unwritable(
                f"The {what} id {outside_id!r} contains a tab or a line end, which separates a BEIR qrels file. "
                "Export JSONL or CSV."
            )
    return f"{row.query_id}\t{row.block_id}\t{row.grade}\n".encode()


MISSING = (
    "A pair that a run did not return has the lowest score that the run gave for the query; where it returned nothing "
    "for the query, all of its pairs have 0."
)


def letor_files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    """No file at all without runs. The numbers of queries go on from split to split, so that files can be joined."""
    scores = content.scores()
    if scores is None:
        return
    in_split: dict[str, list[str]] = {}
    for query in content.queries():
        in_split.setdefault(query.split, []).append(query.query_id)
    splits = sorted(in_split)
    qids = {query: number for number, query in enumerate(chain.from_iterable(in_split[one] for one in splits), 1)}
    with ExitStack() as stack:
        apart: dict[str, IO[bytes]] = {split: stack.enter_context(TemporaryFile()) for split in splits}
        for row, values in scores.beside(in_order(content.grades(), lambda r: (r.query_id, r.block_id))):
            apart[row.split].write(_letor(row, qids[row.query_id], values))
        facts = {
            "lines": "grade qid:N feature:score … # query_id doc_id",
            "missing": MISSING,
            "features": [{"feature": number, **each._asdict()} for number, each in enumerate(scores.features, 1)],
        }
        yield "letor/features.json", iter([json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n"])
        for split, lines in apart.items():
            yield f"letor/{split or 'all'}.txt", _pieces(lines)


def _letor(row: GradeRow, qid: int, scores: Sequence[float]) -> bytes:
    features = "".join(f" {number}:{score!r}" for number, score in enumerate(scores, 1))
    pair = f"{_plain(row.query_id, 'query')} {_plain(row.block_id, 'block')}"
    return f"{row.grade} qid:{qid}{features} # {pair}\n".encode()
