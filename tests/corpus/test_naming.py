"""What is shown beside a passage's title to tell it from others on the page."""

from apps.corpus.core.passage_ids import Place, document_names, told_apart


def place(title="Backups", document="Handbook", document_id="handbook.md", section=(), block="b1"):
    return Place(title, document, document_id, section, block)


def test_a_document_goes_by_its_title():
    assert told_apart([place(), place(title="Restore", block="b2")]) == ["Handbook", "Handbook"]


def test_a_document_without_a_title_goes_by_its_id():
    assert told_apart([place(document="")]) == ["handbook.md"]


def test_documents_with_one_title_go_by_their_ids():
    aws = place(title="component", document="component", document_id="aws/component.yaml")
    gcp = place(title="component", document="component", document_id="gcp/component.yaml", block="b2")

    assert document_names([aws, gcp]) == ["aws/component.yaml", "gcp/component.yaml"]
    assert told_apart([aws, gcp]) == ["aws/component.yaml", "gcp/component.yaml"]


def test_passages_with_one_title_in_one_document_go_by_their_headings():
    one, two = place(section=["Storage", "Backups"]), place(section=["Database", "Backups"], block="b2")

    assert told_apart([one, two]) == ["Handbook / Storage", "Handbook / Database"]


def test_passages_under_the_same_headings_go_by_their_own_ids():
    one, two = place(section=["Storage"]), place(section=["Storage"], block="b2")
    other = place(title="Restore", section=["Storage"], block="b3")

    assert told_apart([one, two, other]) == ["Handbook, b1", "Handbook, b2", "Handbook"]


def test_of_no_passage_there_is_nothing_to_tell():
    assert told_apart([]) == []
