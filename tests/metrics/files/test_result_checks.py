"""What results say of the corpus is compared with it: documents, and starts and ends in the texts of its passages."""

import pytest

from apps.common.files.faults import ErrorList
from apps.metrics.expected.rules import Returned
from apps.metrics.files.result_checks import CorpusFacts, checked, facts_among
from apps.metrics.files.results import ResultRow

BLOCKS = {
    "b1": Returned("b1", "rules", None, "Keys are red, doors are blue."),
    "b2": Returned("b2", "rules", None, "Windows are green."),
    "b3": Returned("b3", "note", None, "Only this. 😀 Here."),
}
FACTS = facts_among(BLOCKS)


def check(*returned: Returned, facts: CorpusFacts = FACTS) -> tuple[list[Returned], list]:
    errors = ErrorList()
    rows = [(line, ResultRow("Q1", line, one)) for line, one in enumerate(returned, 1)]
    found = checked(rows, "results.jsonl", lambda blocks, documents: facts, errors)
    return [row.returned for _, row in found], list(errors)


@pytest.mark.parametrize(
    "told",
    [
        Returned("b1", "rules", text="red,  DOORS", span=(9, 19)),
        Returned("chunk 7", "rules", text="Anything."),
        Returned("b1", text="Anything."),
        Returned(text="Anything."),
    ],
)
def test_what_the_corpus_does_not_contradict_stays_as_it_is(told):
    assert check(told) == ([told], [])


def test_a_start_and_an_end_count_characters_and_give_the_text():
    spans = [Returned("b1", span=(9, 12)), Returned("b1", span=(0, 29)), Returned("b3", span=(11, 18))]

    found, errors = check(*spans)

    assert [one.text for one in found] == ["red", BLOCKS["b1"].text, "😀 Here."]
    assert errors == []


def test_a_document_of_one_passage_names_it():
    found, errors = check(Returned(document_id="note", text="this. 😀 Here", span=(5, 17)))

    assert (found[0].id, errors) == ("b3", [])


@pytest.mark.parametrize(
    ("told", "field", "value", "says"),
    [
        (Returned("b9", span=(0, 3)), "id", "b9", "the corpus has no passage 'b9'"),
        (Returned("b1", span=(9, 30)), "end", "30", "has no more than 29 characters"),
        (Returned("b3", span=(5, 19)), "end", "19", "has no more than 18 characters"),
        (Returned("b1", text="red, walls", span=(9, 19)), "text", "red, walls", "begin with “red, doors”"),
        (Returned(document_id="rules", span=(0, 3)), "id", "", "leave start and end out"),
        (Returned(document_id="nowhere", span=(0, 3)), "document_id", "nowhere", "no document 'nowhere'"),
        (Returned(document_id="nowhere", text="Keys."), "document_id", "nowhere", "no document 'nowhere'"),
    ],
)
def test_what_the_corpus_contradicts_is_named(told, field, value, says):
    found, (error,) = check(Returned("b2"), told)

    assert found == [Returned("b2")]
    assert (error.file, error.line, error.field, error.value) == ("results.jsonl", 2, field, value)
    assert says in error.message


def test_an_unknown_document_is_listed_once_and_another_by_itself():
    unknown = Returned(document_id="nowhere", text="Keys.")

    found, errors = check(unknown, Returned(text="Keys."), unknown, unknown._replace(document_id="elsewhere"))

    assert len(found) == 1
    assert [(error.line, error.value) for error in errors] == [(1, "nowhere"), (4, "elsewhere")]


def test_a_corpus_without_documents_says_nothing_of_them():
    facts = facts_among({name: block._replace(document_id="") for name, block in BLOCKS.items()})

    assert check(Returned(document_id="nowhere", text="Keys."), facts=facts)[1] == []


def test_only_what_is_named_is_asked_for():
    asked = []

    def facts_of(blocks, documents):
        asked.append((set(blocks), set(documents)))
        return FACTS

    rows = [(1, ResultRow("Q1", 1, Returned("b1", span=(0, 3)))), (2, ResultRow("Q1", 2, Returned("b2", text="A")))]
    rows.append((3, ResultRow("Q1", 3, Returned(document_id="note", span=(0, 3)))))
    checked(rows, "results", facts_of, ErrorList())
    checked([(1, ResultRow("Q1", 1, Returned("b2", text="A")))], "results", facts_of, ErrorList())

    assert asked == [(set(), {"note"}), ({"b1", "b3"}, set())]
