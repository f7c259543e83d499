"""Runs in a table with a heading, and what is no such table."""

import gzip
import io

import pytest

from apps.common.files.tabular import TableFile
from apps.metrics.files.run_tables import columns_of
from apps.retrieval.execution.run_reading import draft_of_file, known_ids
from apps.retrieval.formats import draft_from_table
from tests.retrieval.factories import make_queries
from tests.retrieval.test_formats import KNOWN, mistakes, rankings


def read(text, name="my finder.csv", **known):
    source = TableFile(name, io.BytesIO(text.encode()))
    table = columns_of(text.encode())
    assert table is not None
    return draft_from_table(source, table, lambda rows: None, **(known or KNOWN))


@pytest.mark.parametrize(
    "heading",
    [
        "query,rank,passage,score",
        "Query;Rank;Passage ID;Score",
        '"qid"\t"rank"\t"doc_id"\t"score"',
        "\ufeffquery-id,rank,corpus-id,score",
    ],
)
def test_columns_are_found_by_their_usual_names_in_any_case_and_with_any_separator(heading):
    mark = next(mark for mark in "\t,;" if mark in heading)
    rows = [["q1", "1", "a", "2.5"], ["q1", "2", "b", "1.5"], ["q2", "1", "c", "9"]]

    draft = read("\n".join([heading, *(mark.join(row) for row in rows)]))

    assert rankings(draft) == {11: ([0, 1], [2.5, 1.5]), 12: ([2], [9.0])}
    assert (draft.tags, draft.reordered, mistakes(draft)) == (["my-finder"], 0, [])


def test_without_scores_the_ranks_give_the_order():
    draft = read("query,rank,passage\nq1,2,b\nq1,1,a\n")

    assert rankings(draft) == {11: ([0, 1], [-1.0, -2.0])}


def test_a_column_of_tags_names_the_run_and_two_tags_are_refused():
    one, two = (read(f"query,block,score,tag\nq1,a,2,mine\nq1,b,1,{tag}\n") for tag in ("mine", "other"))

    assert one.tags == ["mine"]
    assert "a file contains one run" in mistakes(two)[0]


def test_a_query_without_a_known_id_is_the_one_with_exactly_its_text(lead, project, snapshot):
    lines = ["query,passage,score", "  RED   key ,a,2", "Q02,c,1", "blue key,a,1"]

    draft = read("\n".join(lines), **known_ids(project, snapshot))

    assert [one.outside_id for one in draft.rankings] == ["Q01", "Q02"]
    assert draft.by_text == {"RED   key": "Q01"}
    assert draft.unknown_queries == {"blue key": 1}


def test_a_text_that_several_queries_share_names_none(lead, project, snapshot):
    make_queries(project, {"Q09": "Red key"})

    draft = read("query,passage,score\nred key,a,2\n", **known_ids(project, snapshot))

    assert draft.unknown_queries == {"red key": 1}


def test_a_query_named_by_id_and_by_text_is_a_mistake(lead, project, snapshot):
    draft = read("query,passage,score\nQ01,a,2\nred key,b,1\nred key,c,1\n", **known_ids(project, snapshot))

    assert draft.is_spoilt
    assert mistakes(draft) == [
        "my finder.csv, line 3, query: 'red key' and 'Q01' both name the query Q01; name it in one way."
    ]


def test_every_mistake_of_a_table_is_listed_with_line_and_field():
    draft = read("query,passage,score\nq1,a,2\nq1,a,1\nq1,,1\n,b,1\nq1,b,much\nq1,c,inf\nq9,x,1\n")

    assert mistakes(draft) == [
        "my finder.csv, line 3, block: 'a' is listed twice for query 'q1'.",
        "my finder.csv, line 4, block: the row names none.",
        "my finder.csv, line 5, query: the row names none.",
        "my finder.csv, line 6, score: 'much' is not a finite number.",
        "my finder.csv, line 7, score: 'inf' is not a finite number.",
        "my finder.csv, line 8, query: 'q9' is not a query of this project.",
        "my finder.csv, line 8, block: 'x' is not a passage of this snapshot.",
    ]


@pytest.mark.parametrize("start", [b"", b"Q1 Q0 a 1 2.0 tag", b"Q1\tQ0\ta\t1\t2.0\ttag", b"query,passage", b"\x1f\x8b"])
def test_other_files_are_read_as_six_columns(start):
    assert columns_of(start) is None


@pytest.mark.django_db
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_table_is_recognised_in_a_file_plain_or_packed(project, snapshot, tmp_path, pack):
    queries = make_queries(project)
    block = snapshot.entries.first().version.block.outside_id
    path = tmp_path / "run.csv"
    path.write_bytes(pack(f"query,passage,rank\n{queries[0].outside_id},{block},1\n".encode()))

    draft = draft_of_file(path, project=project, snapshot=snapshot)

    assert (draft.results, draft.tags, mistakes(draft)) == (1, ["run"], [])
