import pytest

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.http_json import Every, NoSuchPlace, column, parse_path, written

ITEM = Every.ITEM


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("hits[*].doc.id", ("hits", ITEM, "doc", "id")),
        ("[*]", (ITEM,)),
        ("[*].id", (ITEM, "id")),
        ("ids[*]", ("ids", ITEM)),
        ("results[0].hits[*][1]", ("results", 0, "hits", ITEM, 1)),
        ('["a.b"][*]["c\\"]"]', ("a.b", ITEM, 'c"]')),
        ("größe[*].ключ", ("größe", ITEM, "ключ")),
    ],
)
def test_a_path_is_read_and_written_alike(text, steps):
    assert parse_path(text) == steps
    assert parse_path(written(steps)) == steps


@pytest.mark.parametrize(
    "text", ["", ".", "a.", ".a", "a..b", "a[", "a[]", "a[-1]", "a[1", "a b", "a.[*]", "a[*]b", '["a]', "x" * 301]
)
def test_an_invalid_path_is_rejected_with_the_position(text):
    with pytest.raises(BadParameters):
        parse_path(text)


def test_a_ranking_is_one_list():
    with pytest.raises(BadParameters, match="more than once"):
        parse_path("a[*].b[*]")


def test_a_column_has_one_value_an_item():
    answer = {"hits": [{"doc": {"id": "a"}}, {"doc": {"id": 7}}]}

    assert column(parse_path("hits[*].doc.id"), answer) == ["a", 7]
    assert column(parse_path("[*]"), ["a", "b"]) == ["a", "b"]
    assert column(parse_path("hits[*].id"), {"hits": []}) == []


def test_an_optional_value_is_none_where_an_item_lacks_it():
    answer = {"hits": [{"page": 3}, {"name": "b"}, {"page": None}]}

    assert column(parse_path("hits[*].page"), answer, is_optional=True) == [3, None, None]
    with pytest.raises(NoSuchPlace, match="nothing at hits"):
        column(parse_path("hits[*].page"), {}, is_optional=True)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({}, "The answer has nothing at hits."),
        ([], "The answer has nothing at hits."),
        ({"hits": {"a": 1}}, "The answer has no list at hits."),
        ({"hits": [{"id": "a"}, {"name": "b"}]}, "Item 2 of the answer has nothing at id."),
        ({"hits": ["a"]}, "Item 1 of the answer has nothing at id."),
    ],
)
def test_what_an_answer_lacks_is_reported(answer, words):
    with pytest.raises(NoSuchPlace) as caught:
        column(parse_path("hits[*].id"), answer)

    assert str(caught.value) == words
