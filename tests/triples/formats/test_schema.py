"""The published schema and the reader take the same."""

import json

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from apps.triples.formats.entry import as_values
from tests.conftest import REPO
from tests.triples.formats.entries import PUBLISHED, entries

SCHEMA = json.loads((REPO / "docs/reference/triples.schema.json").read_text())


@settings(max_examples=100, deadline=None)
@given(entry=entries())
def test_every_entry_that_is_written_fits_the_schema(entry):
    Draft202012Validator(SCHEMA).validate(as_values(entry))


def test_the_schema_is_one_and_takes_a_published_entry():
    Draft202012Validator.check_schema(SCHEMA)

    Draft202012Validator(SCHEMA).validate(PUBLISHED)


@pytest.mark.parametrize(
    "fields",
    [
        {"question": ""},
        {"expected_block": {}},
        {"expected_block": {"block_id": "a b"}},
        {"anything": 1},
        {"match": "some"},
        {"metadata": {"author": "x"}},
        {"metadata": {"machine_written": {"model": "x"}}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(fields):
    assert not Draft202012Validator(SCHEMA).is_valid(PUBLISHED | fields)
