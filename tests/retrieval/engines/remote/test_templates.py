import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote import templates
from apps.retrieval.core.engines.remote.templates import filled, filled_address, parse_body, places_in, split_address

VALUES = {"query": 'say "hi" {{k}}', "k": 10, "query_id": "Q1"}


def test_a_place_becomes_the_value_itself():
    body = parse_body('{"q": "{{query}}", "size": "{{k}}", "n": {{ k }}, "id": "id-{{query_id}}", "deep": [{"k": 1}]}')

    assert filled(body, VALUES) == {
        "q": 'say "hi" {{k}}', "size": 10, "n": 10, "id": "id-Q1", "deep": [{"k": 1}]
    }  # fmt: skip


@given(st.text())
def test_whatever_a_query_contains_it_stays_one_value(text):
    sent = json.dumps(filled(parse_body('{"q": {{query}}, "k": 1}'), {**VALUES, "query": text}))

    assert json.loads(sent) == {"q": text, "k": 1}


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_whatever_a_query_contains_it_stays_in_its_place_of_the_address(text):
    path = filled_address("/s?q={{query}}&k={{k}}", {**VALUES, "query": text})

    assert path.count("&") == 1
    assert "#" not in path
    assert path.isascii()


def test_a_placeholder_inside_a_string_is_recognised():
    assert places_in(parse_body('{"a": ["{{query}} {{k}}"], "b": {"c": "x"}}')) == {"query", "k"}


@pytest.mark.parametrize(
    "text", ["", "{", '{"q": {{query}', '{"q": {{word}}}', '{"q": "{{ }}"}', "[" * 100_000, "x" * 20_001]
)
def test_an_invalid_body_is_rejected(text):
    with pytest.raises(BadParameters):
        parse_body(text)


def test_the_host_of_an_address_is_fixed():
    assert split_address(" https://a.example:9/s?q={{query}}#x ") == ("https://a.example:9", "/s?q={{query}}")
    for url in (
        "https://a.example/ x",
        "https://a.example/ü",
        "https://a.example/\r\nX: y",
        "https://a.example/{query}",
    ):
        with pytest.raises(BadParameters, match="% signs"):
            split_address(url)
    for url in ("https://{{query}}.example/", "ftp://a.example/", "a.example/{{query}}", "https://a.example/{{host}}"):
        with pytest.raises(BadParameters):
            split_address(url)


def test_places_are_named():
    assert templates.PLACES == ("query", "k", "query_id")
