"""What the writers write, the importers read back as it was."""

import io
from collections.abc import Callable, Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.formats import read_blocks
from apps.goldsets.formats import beir, jsonl, trec
from apps.queries.formats import read_queries
from tests.goldsets.content import SMALL


def read_back(writer, name: str, reader: Callable[..., Iterator], format: str) -> list:
    chunks = dict(writer.files(SMALL))[name]
    errors = ErrorList()
    rows = list(reader(TableFile(name, io.BytesIO(b"".join(chunks))), errors, format=format))
    assert list(errors) == []
    return rows


def test_jsonl_corpus_is_read_back():
    rows = read_back(jsonl, "jsonl/corpus.jsonl", read_blocks, "jsonl")

    found = [(r.block_id, r.document_id, r.title, r.text, r.section_path, r.page_start, r.metadata) for r in rows]
    assert found == [
        (b.block_id, b.document_id, b.title, b.text, b.section, b.page_start, b.metadata) for b in SMALL.block_rows
    ]


def test_jsonl_queries_are_read_back_with_their_split():
    rows = read_back(jsonl, "jsonl/queries.jsonl", read_queries, "jsonl")

    found = [(r.query_id, r.text, r.description, r.tags, r.metadata["split"]) for r in rows]
    assert found == [(q.query_id, q.text, q.description, q.tags, q.split) for q in SMALL.query_rows]


def test_trec_topics_are_read_back():
    rows = read_back(trec, "trec/topics.txt", read_queries, "trec")

    assert [(r.query_id, r.text, r.description or "") for r in rows] == [
        (q.query_id, q.text, q.description) for q in SMALL.query_rows
    ]


def test_beir_queries_and_corpus_are_read_back():
    queries = read_back(beir, "beir/queries.jsonl", read_queries, "beir")
    blocks = read_back(beir, "beir/corpus.jsonl", read_blocks, "beir")

    assert [(r.query_id, r.text) for r in queries] == [(q.query_id, q.text) for q in SMALL.query_rows]
    assert [(r.block_id, r.text) for r in blocks] == [(b.block_id, b.text) for b in SMALL.block_rows]
