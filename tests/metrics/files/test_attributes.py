import gzip

import numpy as np
import pytest

from apps.common.errors import InputError, InputErrors
from apps.metrics.columns import Attributes
from apps.metrics.files.attributes import load_block_attributes, load_query_attributes
from apps.metrics.vocabulary import Vocabulary


def written(tmp_path, text, name="blocks.csv"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_a_file_of_blocks_gives_attributes_by_block_number(tmp_path):
    blocks = Vocabulary()
    blocks.numbers_of(["B2", "B9"])
    path = written(tmp_path, "block,type,source\nB1,guide,web\nB2,law,\nB3,guide,book\n")

    found = load_block_attributes(path, blocks)

    assert list(blocks) == [b"B2", b"B9", b"B1", b"B3"]
    assert found.by_name["type"].values == ("guide", "law")
    assert found.by_name["type"].of(np.array([0, 1, 2, 3, 4])).tolist() == [1, -1, 0, 0, -1]
    assert found.by_name["source"].of(np.array([0, 2, 3])).tolist() == [-1, 1, 0]
    assert found.times is None


def test_times_are_days_since_1970_and_utc_unless_they_name_a_zone(tmp_path):
    blocks = Vocabulary()
    text = "block,time\nB1,1970-01-02\nB2,1970-01-01T12:00:00\nB3,1970-01-01T12:00:00+06:00\nB4,\n"

    found = load_block_attributes(written(tmp_path, text), blocks)

    times = found.times_of(np.array([0, 1, 2, 3, 9]))
    assert times[:3].tolist() == [1.0, 0.5, 0.25]
    assert np.isnan(times[3:]).all()


def test_a_file_of_queries_is_put_in_the_order_of_the_judged_queries(tmp_path):
    path = written(tmp_path, "query,time,domain\nQ2,1970-01-03,law\nQ1,1970-01-02,news\nQ7,1970-01-09,\n")

    found = load_query_attributes(path, ("Q1", "Q2", "Q3"))

    assert found.times[:2].tolist() == [1.0, 2.0]
    assert np.isnan(found.times[2])
    assert found.domains == ("news", "law", "")


def test_gzip_and_tabs_are_read(tmp_path):
    path = written(tmp_path, "block\ttype\nB1\tguide\n", "blocks.tsv.gz")

    assert load_block_attributes(path, Vocabulary()).by_name["type"].values == ("guide",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,type\nB1,guide\n", "line 1, block: this column is missing"),
        ("block,type\nB1,guide\nB1,law\n", "line 3, block: 'B1' appears twice, first in line 2."),
        ("block,type\n ,guide\n", "line 2, block: the row names no block."),
        ("block,type\nB1\n", "line 2: the row has 1 cells, the header has 2"),
        ("block,time\nB1,soon\n", "line 2, time: 'soon' is not a date or time such as 2026-03-01"),
        ("block,type\n", "names the columns but contains no rows."),
        ("", "the file is empty"),
    ],
)
def test_a_fault_names_its_line_and_column(tmp_path, text, said):
    with pytest.raises((InputError, InputErrors)) as caught:
        load_block_attributes(written(tmp_path, text), Vocabulary())

    assert said in str(caught.value)


def test_every_mistake_of_a_file_is_reported(tmp_path):
    text = "block,time\nB1,soon\n,2026-01-01\nB1,2026-01-01\nB2\nB3,late\n"

    with pytest.raises(InputErrors) as caught:
        load_block_attributes(written(tmp_path, text), Vocabulary())

    assert [(error.line, error.field) for error in caught.value.errors] == [
        (2, "time"), (3, "block"), (4, "block"), (5, ""), (6, "time"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["block", "block_id", "doc_id", "docno", "corpus-id"])
@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_the_column_of_blocks_may_have_any_usual_name_and_any_delimiter(tmp_path, name, mark):
    path = written(tmp_path, f"{name}{mark}type\nB1{mark}guide\n")

    found = load_block_attributes(path, Vocabulary())

    assert list(found.by_name) == ["type"]
    assert found.by_name["type"].values == ("guide",)


@pytest.mark.parametrize("name", ["query", "query_id", "qid"])
def test_the_column_of_queries_may_have_any_usual_name(tmp_path, name):
    path = written(tmp_path, f"{name},domain\nQ1,law\n")

    assert load_query_attributes(path, ("Q1",)).domains == ("law",)


def test_a_column_of_queries_that_means_nothing_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"unknown column; known are query, query_id, .*, time, domain"):
        load_query_attributes(written(tmp_path, "query,date\nQ1,2026-01-01\n"), ("Q1",))


def test_what_is_given_follows_from_the_files(tmp_path):
    typed = load_block_attributes(written(tmp_path, "block,type\nB1,guide\n"), Vocabulary())
    timed = load_block_attributes(written(tmp_path, "block,time\nB1,2026-01-01\n"), Vocabulary())
    queries = load_query_attributes(written(tmp_path, "query,time\nQ1,2026-01-01\n"), ("Q1",))

    assert Attributes().given == frozenset()
    assert Attributes(typed).given == {"blocks"}
    assert Attributes(timed).given == {"blocks"}
    assert Attributes(timed, queries).given == {"blocks", "times"}
