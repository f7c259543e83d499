"""Whatever bytes a file holds, reading it gives rows and mistakes, never another exception."""

import gzip
import io
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.formats import FORMATS as CORPUS
from apps.corpus.formats import read_blocks
from apps.judging.formats.judgements import read_judgements
from apps.queries.formats import FORMATS as QUERIES
from apps.queries.formats import read_queries
from tests.walks import often

PIECES = st.sampled_from(
    [
        ".I 1\n", ".T\n", ".W\n", ".Q\n", ".I\n", "<top>\n", "<num> 1\n", "</top>\n", "<title>x\n", "<desc>\n",
        "block_id,document_id,text\n", "query_id,text\n", "query_id,doc_id,grade\n", '"', ",", "\n", "\r\n", " ",
        "q 0 d 1\n", "{", "}", "[", '{"block_id": "b", "document_id": "d", "text": "t"}\n', '{"_id": 1}\n',
        '{"query_id": "q", "text": "t", "tags": 3}\n', "\ufeff", "\x00", "=1+1", "ä", "a,b,c\n",
    ]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = ["block_id", "document_id", "text", "title", "section", "page_start", "metadata", "_id", "query_id", "tags"]
FILES = (
    st.binary(max_size=200)
    | st.lists(PIECES, max_size=20).map(lambda pieces: "".join(pieces).encode())
    | st.dictionaries(st.sampled_from(NAMES), JSON).map(lambda value: json.dumps(value).encode())
)
READERS = {
    **{f"corpus {name}": (read_blocks, {"format": name}) for name in CORPUS},
    **{f"queries {name}": (read_queries, {"format": name}) for name in QUERIES if name != "parquet"},
    "qrels": (read_judgements, {"format": "qrels"}),
    "flat": (read_judgements, {"format": "csv", "grades": {"1": 2, "2": None}}),
}


@pytest.mark.parametrize("name", READERS)
@given(data=FILES, packed=st.booleans())
@settings(max_examples=often(25, 60), deadline=None)
def test_any_file_is_read_or_refused_in_words(name, data, packed):
    read_or_refuse(*READERS[name], gzip.compress(data) if packed else data)


@given(data=FILES | FILES.map(lambda data: b"PAR1" + data + b"PAR1"), packed=st.booleans())
@settings(max_examples=12, deadline=None)  # a process reads each
def test_any_parquet_file_is_read_or_refused_in_words(data, packed):
    read_or_refuse(read_queries, {"format": "parquet"}, gzip.compress(data) if packed else data)


def read_or_refuse(reader, options, data):
    errors = ErrorList()

    with suppress(InputError):
        for row in reader(TableFile("f", io.BytesIO(data)), errors, **options):
            json.dumps(row, ensure_ascii=False, allow_nan=False).encode()

    assert all(error.message and error.file == "f" for error in errors)


@given(st.binary(max_size=400).map(lambda data: b"\x1f\x8b" + data))
def test_a_file_that_only_looks_packed_is_refused(data):
    with suppress(InputError):
        list(read_blocks(TableFile("f", io.BytesIO(data)), ErrorList(), format="jsonl"))
