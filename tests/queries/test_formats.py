import io
import json

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, open_source
from apps.queries.formats import read_queries
from apps.queries.formats.records import QueryRow


def read(text: str, *, format: str, ids: str = "file") -> tuple[list[QueryRow], ErrorList]:
    errors = ErrorList()
    rows = list(read_queries(TableFile("f", io.BytesIO(text.encode())), errors, format=format, ids=ids))
    return rows, errors


@pytest.mark.parametrize(
    ("format", "text", "field"),
    [
        ("csv", "query_id,text\nQ1,\nQ1,b\n", "query_id"),
        ("jsonl", '{"query_id": "Q1"}\n{"query_id": "Q1", "text": "b"}\n', "query_id"),
        ("beir", '{"_id": "Q1"}\n{"_id": "Q1", "text": "b"}\n', "_id"),
        ("trec", "<top>\n<num> Q1\n</top>\n<top>\n<num> Q1\n<title> b\n</top>\n", "num"),
        ("smart", ".I Q1\n.W\n.I Q1\n.W\nb\n", "id"),
    ],
)
def test_an_id_that_occurs_twice_is_listed_even_when_its_first_row_is_rejected(format, text, field):
    _, errors = read(text, format=format)

    listed = [(error.field, error.message) for error in errors]
    assert len(listed) == 2
    assert listed[1][0] == field
    assert "is in the file twice, first in line" in listed[1][1]


def test_csv_and_jsonl_give_the_same_rows():
    csv_text = (
        "query_id,text,label,intent,description,source,difficulty,domain,query_type,group,tags,metadata.x\n"
        "Q01,how long?,keys,know,more,log,hard,security,fact,g1,a; b,1\n"
    )
    value = {
        "query_id": "Q01",
        "text": "how long?",
        "label": "keys",
        "intent": "know",
        "description": "more",
        "source": "log",
        "difficulty": "hard",
        "domain": "security",
        "query_type": "fact",
        "group": "g1",
        "tags": ["a", "b"],
        "metadata": {"x": "1"},
    }

    from_csv, csv_errors = read(csv_text, format="csv")
    from_jsonl, jsonl_errors = read(json.dumps(value), format="jsonl")

    assert from_csv == [row._replace(line=2) for row in from_jsonl]
    assert from_csv[0].tags == ("a", "b")
    assert not csv_errors
    assert not jsonl_errors


@pytest.mark.parametrize(
    ("cells", "field", "message"),
    [
        (",words,", "query_id", "is empty"),
        ("Q1,  ,", "text", "is empty"),
        ("Q 1,words,", "query_id", "an id must not contain blanks"),
        ("Q1,words,tricky", "difficulty", "must be one of easy, standard, medium, hard"),
    ],
)
def test_csv_names_what_is_wrong(cells, field, message):
    rows, errors = read(f"query_id,text,difficulty\n{cells}\n", format="csv")

    assert rows == []
    error = next(iter(errors))
    assert (error.line, error.field) == (2, field)
    assert error.message.startswith(message)


def test_beir_queries():
    rows, _ = read('{"_id": "1", "text": "what", "metadata": {"a": 1}, "lang": "en"}', format="beir")

    assert rows == [QueryRow(1, "1", "what", metadata={"a": 1, "lang": "en"})]


TOPICS = """<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that
participate.

<narr> Narrative:
A relevant document must name one.
</top>

<top><num>302</num>
<title>Polio & co</title>
</top>
"""


def test_topics_with_open_and_closed_tags():
    rows, errors = read(TOPICS, format="trec")

    assert rows == [
        QueryRow(
            1,
            "301",
            "International Organized Crime",
            description="Identify organizations that participate.",
            intent="A relevant document must name one.",
        ),
        QueryRow(13, "302", "Polio & co"),
    ]
    assert not errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<num> 1\n", "outside a <top>"),
        ("<top>\n<num> 1\n<title> x\n", "not closed by </top>"),
    ],
)
def test_topics_of_a_broken_form_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        read(text, format="trec")


def test_a_topic_without_a_title_is_listed():
    _, errors = read("<top>\n<num> 1\n<desc> words\n</top>\n", format="trec")

    assert [(error.line, error.field) for error in errors] == [(1, "title")]


def test_smart_ids_by_position_keep_the_number_of_the_file():
    text = ".I 001\n.W\nfirst\n.I 004\n.W\nsecond\nline\n"

    by_file, _ = read(text, format="smart")
    by_position, _ = read(text, format="smart", ids="position")

    assert [row.query_id for row in by_file] == ["001", "004"]
    assert by_position == [
        QueryRow(1, "1", "first", metadata={"file_id": "001"}),
        QueryRow(4, "2", "second line", metadata={"file_id": "004"}),
    ]


def test_cranfield_has_225_questions_numbered_to_365_by_file(shared_data):
    def ids_by(ids: str) -> list[str]:
        with open_source(shared_data / "cranfield" / "cran.qry") as source:
            return [row.query_id for row in read_queries(source, ErrorList(), format="smart", ids=ids)]

    assert ids_by("position") == [str(number) for number in range(1, 226)]
    assert ids_by("file")[-1] == "365"
