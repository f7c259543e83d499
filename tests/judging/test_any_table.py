"""Whatever a table contains, reading it gives rows, messages or a sentence, never another exception."""

import csv
import io
import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.common.errors import InputError
from apps.common.files.tabular import TableFile
from apps.judging.execution.table_import import read_table
from apps.queries.execution.table_import import read_query_table
from apps.triples.execution.table_import import read_triple_table
from tests.corpus.factories import make_snapshot
from tests.factories import make_project
from tests.queries.factories import make_query
from tests.walks import often

pytestmark = pytest.mark.django_db

HEADINGS = [
    "query",
    "qid",
    "url",
    "grade",
    "rater 1",
    "rater 2",
    "final",
    "notes",
    "rank",
    "question",
    "answer",
    "",
    "x",
]
CELLS = ["", "Q1", "q01", "b1", "B1", "/d1", "d1", "key rotation", "Key  Rotation", "3", "5", "-1", "0,5", "yes", "meh"]
TABLES = st.integers(1, 6).flatmap(
    lambda width: st.tuples(
        st.lists(st.sampled_from(HEADINGS), min_size=width, max_size=width),
        st.lists(st.lists(st.sampled_from(CELLS) | st.text(max_size=4), min_size=width, max_size=width), max_size=6),
    )
)
ANSWERS = [
    "fit-passages",
    "first-passages",
    "fit-queries",
    "fit-ids",
    "no-new-queries",
    "last-grades",
    "leave-passages",
]


@given(table=TABLES, answers=st.sets(st.sampled_from(ANSWERS)))
@settings(max_examples=often(25, 80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_is_read_or_refused_in_words(place, table, answers):
    project, snapshot = place
    headings, rows = table
    out = io.StringIO()
    csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL).writerows([headings, *rows])
    data = out.getvalue().encode("utf-8", errors="replace")
    options = {"table": {"answers": sorted(answers)}}

    for read, where in (
        (read_query_table, {}),
        (read_table, {"snapshot": snapshot}),
        (read_triple_table, {"snapshot": snapshot}),
    ):
        with suppress(InputError):
            view = read(TableFile("f", io.BytesIO(data)), project=project, options=options, **where).view
            json.dumps(view.as_json(), allow_nan=False).encode()
            choice = view.choice.as_json() | {"answers": sorted(answers)}
            again = read(TableFile("f", io.BytesIO(data)), project=project, options={"table": choice}, **where).view
            assert again.choice.columns == view.choice.columns
            assert all(message.title for message in again.messages)


@pytest.fixture
def place():
    project = make_project()
    make_query(project, outside_id="Q01", text="key rotation")
    return project, make_snapshot(project)
