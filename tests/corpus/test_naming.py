"""What is shown beside a passage's title to tell it from others on the page."""

import pytest

from apps.corpus.core.passage_ids import Place, document_names, path_of, told_apart


def place(title="Backups", document="Handbook", document_id="handbook.md", section=(), block="b1"):
    return Place(title, document, document_id, section, block)


STORAGE = {"section": ["Storage"]}


@pytest.mark.parametrize(
    ("places", "names"),
    [
        ([], []),
        ([{}, {"title": "Restore"}], ["Handbook", "Handbook"]),
        ([{"document": ""}], ["handbook.md"]),
        (
            [{"section": ["Storage", "Backups"]}, {"section": ["Database", "Backups"]}],
            ["Handbook / Storage", "Handbook / Database"],
        ),
        ([STORAGE, STORAGE, STORAGE | {"title": "Restore"}], ["Handbook, b1", "Handbook, b2", "Handbook"]),
    ],
)
def test_passages_go_by_their_document_then_by_their_headings_then_by_their_ids(places, names):
    assert told_apart([place(**one, block=f"b{number}") for number, one in enumerate(places, 1)]) == names


def test_documents_with_one_title_go_by_their_ids():
    aws = place(title="component", document="component", document_id="aws/component.yaml")
    gcp = place(title="component", document="component", document_id="gcp/component.yaml", block="b2")

    assert document_names([aws, gcp]) == ["aws/component.yaml", "gcp/component.yaml"]
    assert told_apart([aws, gcp]) == ["aws/component.yaml", "gcp/component.yaml"]


def test_a_document_of_one_passage_is_named_once():
    battery = place(title="Replace the battery", document="Replace the battery")

    assert told_apart([battery, place()]) == ["", "Handbook"]
    assert path_of("Replace the battery", [], "Replace the battery") == ["Replace the battery"]
    assert path_of("Handbook", ["Storage", "Backups"], "Backups") == ["Handbook", "Storage", "Backups"]
