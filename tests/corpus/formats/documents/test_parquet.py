import io
import tracemalloc
from datetime import date
from decimal import Decimal

import pyarrow
import pyarrow.parquet
import pytest

from apps.common.errors import InputErrors
from apps.common.files import parquet
from apps.common.files.parquet import LIMITS
from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.json_records import read_parquet
from apps.corpus.formats.rows import BlockRow
from tests.corpus.formats.documents.reading import reason, rows


def written(columns, **options):
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out, **options)
    return out.getvalue()


def test_columns_are_found_by_their_names():
    content = written({"ID": [1, 2], "text": ["one", "two"], "title": ["A", None], "lang": ["en", None]})

    assert rows(read_parquet, content) == [
        BlockRow(1, "1", "1", "A", "one", metadata={"lang": "en"}),
        BlockRow(2, "2", "2", "", "two"),
    ]


def test_without_an_id_every_row_is_a_document():
    content = written({"url": ["https://a.org/x"], "contents": ["# One"]})

    assert rows(read_parquet, content, "a.parquet") == [
        Document("a.parquet/a.org/x", "parquet", "", "# One", {"url": "https://a.org/x"})
    ]


def test_values_of_every_type_become_metadata():
    content = written({
        "id": ["a"], "text": ["x\0y"], "day": [date(2024, 5, 1)], "price": [Decimal("1.50")], "tags": [["a", "b"]],
        "more": [{"n": 1}], "raw": [b"\xff"], "missing": [float("nan")],
    })  # fmt: skip

    (row,) = rows(read_parquet, content)

    assert row.text == "xy"
    assert row.metadata == {"day": "2024-05-01", "price": "1.50", "tags": ["a", "b"], "more": {"n": 1}}


def test_row_groups_are_read_one_after_the_other():
    content = written({"id": list(map(str, range(3_000))), "text": ["x"] * 3_000}, row_group_size=700)

    assert [row.block_id for row in rows(read_parquet, content)] == list(map(str, range(3_000)))


def test_a_row_without_an_id_is_named():
    with pytest.raises(InputErrors) as caught:
        rows(read_parquet, written({"id": ["a", None], "text": ["x", "y"]}))

    assert [(error.line, error.field) for error in caught.value.errors] == [(2, "id")]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PAR1", "damaged Parquet"),
        (b"PAR1" + b"x" * 100 + b"PAR1", "damaged Parquet"),
        (written({"id": ["a"], "text": ["x"]})[:-9] + b"\xff\xff\xff\xffPAR1", "damaged Parquet"),
        (written({"n": [1, 2]}), "table without a column of text"),
    ],
)
def test_what_cannot_be_read_has_a_reason(content, why):
    assert reason(read_parquet, content) == why


def refused(content, limits):
    with pytest.raises(Unreadable) as caught:
        list(read_parquet(SourceFile("a.parquet", io.BytesIO(content), len(content)), limits))
    return caught.value.reason


def test_too_many_rows_stay_unread():
    content = written({"id": ["a", "b"], "text": ["x", "y"]})

    assert refused(content, LIMITS._replace(rows=1)) == "Parquet with more than 1 rows or 1,000 columns"


def repeated(times, letters):
    """A file in which one long text stands for many."""
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * times), ["x" * letters])
    return written({"id": list(map(str, range(times))), "text": texts})


def test_rows_far_longer_than_their_file_stay_unread():
    assert refused(repeated(300, 10_000), LIMITS._replace(ratio_floor=1_000_000)) == "Parquet packed far too tightly"


def test_one_value_longer_than_all_may_be_is_never_whole_in_memory():
    content = repeated(1, 30_000_000)
    tracemalloc.start()

    assert refused(content, LIMITS._replace(ratio=1, ratio_floor=100_000)) == "Parquet packed far too tightly"
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_a_file_that_needs_too_much_memory_costs_that_file_only():
    content = repeated(200, 2_000_000)

    assert refused(content, LIMITS._replace(memory=500_000_000)) == "Parquet that takes too long or too much memory"


def test_a_crash_costs_that_file_only(monkeypatch, tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import os; os.abort()")
    monkeypatch.setattr(parquet, "SCRIPT", path)

    assert reason(read_parquet, b"PAR1") == "Parquet that takes too long or too much memory"


def test_a_reader_that_is_left_ends_its_process():
    found = read_parquet(
        SourceFile("a.parquet", io.BytesIO(content := written({"id": ["a", "b"], "text": ["x", "y"]})), len(content))
    )

    assert [type(next(found)).__name__ for _ in range(2)] == ["TableColumns", "BlockRow"]
    found.close()
