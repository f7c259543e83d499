from hypothesis import given
from hypothesis import strategies as st

from apps.corpus.core.import_plans import ColumnRole, TableChoice, plain_heading, propose_columns, share

ROLES = (
    ColumnRole("text", "Query", ("query", "search term"), lambda values: share(values, str.isalpha), by_values=True),
    ColumnRole("grade", "Grade", ("grade",), lambda values: share(values, str.isdigit), by_values=True),
    ColumnRole("note", "Note", ("note",)),
    ColumnRole("rated", "Grade of one person", ("rater",), is_many=True),
)


def proposed(headings: list[str], *rows: list[str]) -> list[str]:
    return list(propose_columns(ROLES, headings, rows).values())


def test_headings_are_compared_without_marks_and_capitals():
    assert [plain_heading(one) for one in ("Doc_ID", "docId", " Search  term ", "n°")] == [
        "doc id",
        "doc id",
        "search term",
        "n",
    ]


def test_a_column_is_what_its_heading_or_its_values_suggest():
    assert proposed(["Search_Term", "My grade", "else"], ["keys", "3", ""]) == ["text", "grade", ""]
    assert proposed(["first", "second"], ["keys", "3"], ["doors", "0"]) == ["text", "grade"]


def test_a_heading_goes_before_values_and_a_full_one_before_a_part():
    assert proposed(["query of the day", "query"], ["b", "a"]) == ["", "text"]


def test_only_roles_of_many_columns_are_given_twice():
    assert proposed(["rater 1", "rater 2", "note", "note 2"], ["1", "2", "a", "b1"]) == ["rated", "rated", "note", ""]


def test_a_choice_comes_back_from_json_as_it_was():
    choice = TableChoice(sheet="Ratings", columns={"a": "text"}, grades={"1": "0"}, person="Ana", answers=("fit",))

    assert TableChoice.from_json(choice.as_json()) == choice
    assert choice.answered("x").unanswered("x") == choice


words = st.text("ab1 _", max_size=6)


@given(
    headings=st.lists(words, min_size=1, max_size=5, unique=True),
    rows=st.lists(st.lists(words, min_size=5, max_size=5), max_size=4),
)
def test_every_heading_gets_a_role_or_none_and_single_roles_are_given_once(headings, rows):
    columns = propose_columns(ROLES, headings, rows)

    assert list(columns) == headings
    single = [role for role in columns.values() if role and role != "rated"]
    assert len(single) == len(set(single))
