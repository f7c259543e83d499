"""The published schema, the reader and the writers take the same."""

import json

import pytest
from hypothesis import example, given, settings
from jsonschema import Draft202012Validator

from apps.triples.formats import WRITTEN, write_entries
from apps.triples.formats.entry import Entry, EntryBlock, as_values
from tests.conftest import REPO
from tests.triples.formats.entries import PUBLISHED, entries
from tests.triples.formats.reading import read
from tests.walks import often

SCHEMA = json.loads((REPO / "docs/reference/triples.schema.json").read_text())


@settings(max_examples=often(25, 100), deadline=None)
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
        {"metadata": {"writer": "x"}},
        {"metadata": {"machine_written": {"model": "x"}}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(fields):
    assert not Draft202012Validator(SCHEMA).is_valid(PUBLISHED | fields)


@settings(max_examples=often(25, 150), deadline=None)
@given(entry=entries())
@example(entry=Entry("a\nb", "x\n\n y\n", (EntryBlock("b"),)))
@example(entry=Entry("a\n\x85b", "\ufeffx\ny", (EntryBlock("b"),), note="\n  lead\n"))
@example(entry=Entry("a", "\x1bx\ny", (EntryBlock("b"),)))
@example(entry=Entry("# a\n- b", "'", (EntryBlock("b"),), note='"\\'))
def test_what_is_written_is_read_back_and_written_the_same(entry):
    entry = entry._replace(question=entry.question.strip(), expected_answer=entry.expected_answer.strip())
    for format in WRITTEN:
        data = b"".join(write_entries([entry, entry], format=format))

        found, mistakes = read(data, format)

        assert mistakes == []
        assert found == [entry, entry]
        assert b"".join(write_entries(found, format=format)) == data


def test_no_entries_are_an_empty_list():
    assert b"".join(write_entries([], format="yaml")) == b"[]\n"
    assert b"".join(write_entries([], format="jsonl")) == b""
