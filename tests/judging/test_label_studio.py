"""Judgements from Label Studio: tasks with annotations, whatever their fields and controls are called."""

import io
import json

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.enums import ImportState
from apps.judging.formats.recognition import opener_of, recognise
from apps.judging.formats.tools.label_studio import sides_in
from apps.judging.models import Judgement
from tests.factories import make_project
from tests.judging.factories import make_snapshot
from tests.judging.test_table_import import form_of, send, upload
from tests.queries.factories import make_query

ANA = {"id": 4, "email": "ana@example.org", "first_name": "Ana", "last_name": "Kos"}


def choice(*labels: str, name: str = "relevance") -> dict:
    return {"from_name": name, "to_name": "passage", "type": "choices", "value": {"choices": list(labels)}}


def rating(stars: int) -> dict:
    return {"from_name": "stars", "to_name": "passage", "type": "rating", "value": {"rating": stars}}


def why(*texts: str) -> dict:
    return {"from_name": "why", "to_name": "passage", "type": "textarea", "value": {"text": list(texts)}}


def annotation(*results: dict, by: object = 1, **more) -> dict:
    return {"id": 11, "completed_by": by, "result": list(results), "was_cancelled": False, "ground_truth": False} | more


def task(*annotations: dict, **data) -> dict:
    data = data or {"query": "key rotation", "doc_id": "b00000", "passage": "Keys are rotated every year."}
    return {"id": 7, "annotations": list(annotations), "predictions": [{"result": [choice("Not")]}], "data": data}


TASKS = [
    task(
        annotation(choice("Relevant"), why("says how often", "and by whom"), by=ANA),
        annotation(choice("Partly"), by=2),
        annotation(by=3, was_cancelled=True),
    ),
    task(annotation(choice("Not"), by=2), query="who may open", doc_id="b00001", passage="Doors are shut."),
]


def table(tasks: list, errors: ErrorList | None = None):
    source = TableFile("export.json", io.BytesIO(json.dumps(tasks).encode()))
    assert recognise(source) == "label-studio"
    return opener_of("label-studio")(source, ErrorList() if errors is None else errors)


def records(tasks: list) -> list[dict]:
    found = table(tasks)
    return [dict(zip(found.headings, cells, strict=True)) for _, cells in found.rows]


def test_each_annotation_is_a_row_with_the_fields_of_its_task():
    found = table(TASKS)

    assert found.headings == ["query", "doc_id", "passage", "annotator", "relevance", "why"]
    assert found.known == {
        "annotator": "person", "query": "query", "doc_id": "passage", "relevance": "grade", "why": "note",
    }  # fmt: skip
    assert [(line, cells[3:]) for line, cells in found.rows] == [
        (1, ["Ana Kos", "Relevant", "says how often; and by whom"]),
        (1, ["annotator 2", "Partly", ""]),
        (2, ["annotator 2", "Not", ""]),
    ]
    assert found.notes == ["1 annotation was cancelled and stays out."]


def test_of_several_controls_a_person_chooses_the_grade():
    found = table([task(annotation(choice("Relevant"), rating(5)))])

    assert "grade" not in found.known.values()
    assert found.headings[-2:] == ["relevance", "stars"]


def test_a_passage_without_an_id_is_named_by_its_text():
    found = table([task(annotation(rating(5)), Question="key rotation", text="Keys are rotated every year.")])

    assert found.known == {"annotator": "person", "Question": "query", "text": "passage", "stars": "grade"}


def test_labels_of_parts_are_no_grades():
    part = {"from_name": "span", "type": "labels", "value": {"start": 0, "end": 4, "labels": ["Evidence"]}}

    (row,) = records([task(annotation(choice("Relevant"), part))])

    assert "span" not in row


def test_several_choices_and_taxonomies_are_one_label():
    tree = {"from_name": "kind", "type": "taxonomy", "value": {"taxonomy": [["Relevant", "Whole"], ["Short"]]}}

    (row,) = records([task(annotation(choice("Relevant", "Short"), tree))])

    assert (row["relevance"], row["kind"]) == ("Relevant; Short", "Relevant > Whole; Short")


def test_a_control_with_the_name_of_a_field_is_told_apart():
    (row,) = records([task(annotation(choice("Relevant", name="query")))])

    assert (row["query"], row["query (annotated)"]) == ("key rotation", "Relevant")


def test_a_comparison_is_a_row_for_each_of_the_two_texts():
    pick = {"from_name": "pw", "to_name": "pw", "type": "pairwise", "value": {"selected": "left"}}

    found = table([task(annotation(pick), query="key rotation", text1="Keys are rotated.", text2="Doors are shut.")])

    assert found.known["compared passage"] == "passage"
    assert found.known["pw"] == "grade"
    assert [cells for _, cells in found.rows] == [
        ["key rotation", "annotator 1", "Keys are rotated.", "chosen"],
        ["key rotation", "annotator 1", "Doors are shut.", "not chosen"],
    ]
    assert found.notes == ["1 comparison is read as two rows: the text that was chosen, and the other."]


@pytest.mark.parametrize(
    ("fields", "sides"),
    [
        (["query", "text1", "text2"], ("text1", "text2")),
        (["answer_a", "answer_b"], ("answer_a", "answer_b")),
        (["left", "right", "query"], ("left", "right")),
        (["query", "passage"], None),
    ],
)
def test_the_two_texts_are_found_by_the_ends_of_their_names(fields, sides):
    assert sides_in(fields) == sides


def test_a_mistake_names_task_field_and_value():
    errors = ErrorList()
    pick = {"from_name": "pw", "type": "pairwise", "value": {"selected": "left"}}
    broken = [{"data": [], "annotations": []}, {"data": {}, "annotations": [3]}, task(annotation(pick)), *TASKS]

    found = table(broken, errors)

    assert len(list(found.rows)) == 3
    assert [(error.line, error.field) for error in errors] == [(1, "data"), (2, "annotations"), (3, "pw")]


def test_an_export_without_annotations_is_none():
    with pytest.raises(InputError, match="the file has no grade"):
        table([task()])


def minimal(**controls) -> dict:
    data = {"query": "key rotation", "doc_id": "b00000", "passage": "Keys are rotated every year."}
    end = {"annotator": 1, "annotation_id": 3, "created_at": "", "updated_at": "", "lead_time": None}
    return {**data, "id": 2, **controls, **end}


def test_json_min_is_read_too():
    tasks = [minimal(relevance="Relevant", stars=[{"rating": 5}]), minimal(relevance={"choices": ["Partly", "Short"]})]

    assert [(row["relevance"], row["stars"], row["annotator"]) for row in records(tasks)] == [
        ("Relevant", "5", "annotator 1"),
        ("Partly; Short", "", "annotator 1"),
    ]
    assert table([minimal(stars=[{"rating": 5}])]).known["stars"] == "grade"


def test_parts_of_texts_in_json_min_are_no_grades():
    (row,) = records([minimal(relevance="Relevant", span=[{"start": 0, "end": 4, "labels": ["Evidence"]}])])

    assert "span" not in row


@pytest.fixture
def snapshot(db):
    project = make_project()
    make_query(project, outside_id="Q1", text="Key rotation")
    return make_snapshot(project)


def meanings(item) -> dict[str, str]:
    return {value: grade for value, grade, _ in item.plan["table"]["grades"]}


def grades() -> list[tuple]:
    return sorted(Judgement.objects.values_list("entry__version__block__outside_id", "annotator__name", "grade"))


def test_the_page_imports_an_export_once_its_labels_have_a_meaning(client, snapshot):
    item = upload(client, snapshot, json.dumps(TASKS).encode(), "project-3.json")

    assert item.state == ImportState.READY
    assert meanings(item) == {"Relevant": "3", "Partly": "1", "Not": "0"}
    send(client, item, "import-columns", form_of(item, **{"import": "1"}))

    assert item.state == ImportState.APPLIED
    assert grades() == [("b00000", "Ana Kos", 3), ("b00000", "annotator 2", 1), ("b00001", "annotator 2", 0)]


def test_what_won_a_comparison_counts_when_somebody_says_as_what(client, snapshot):
    pick = {"from_name": "pw", "to_name": "pw", "type": "pairwise", "value": {"selected": "right"}}
    pairs = [task(annotation(pick), query="key rotation", doc_a="b00000", doc_b="b00001")]
    item = upload(client, snapshot, json.dumps(pairs).encode(), "pairs.json")
    assert meanings(item) == {"chosen": "", "not chosen": ""}

    names = [value for value, _, _ in item.plan["table"]["grades"]]
    changes = {f"grade-{names.index('chosen')}": "2", f"grade-{names.index('not chosen')}": "skip"}
    send(client, item, "import-columns", form_of(item, **changes))
    send(client, item, "import-columns", form_of(item, **changes, **{"import": "1"}))

    assert grades() == [("b00001", "annotator 1", 2)]
