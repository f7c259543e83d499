"""Entries as files: what is read, what is refused and where, and that writing and reading are each other's inverse."""

import io
import json

import pytest
from hypothesis import example, given, settings
from jsonschema import Draft202012Validator

from apps.common.errors import InputError
from apps.common.inputs import ErrorList, as_row
from apps.common.tabular import Caps, Source
from apps.triples.formats import FORMATS, read_entries, write_entries
from apps.triples.formats.entry import Entry, EntryBlock, Evidence, as_values
from tests.conftest import REPO
from tests.triples.formats.entries import PUBLISHED, entries

SCHEMA = json.loads((REPO / "docs/reference/triples.schema.json").read_text())


def read(data: bytes | str, format: str = "jsonl", **caps):
    """The entries of a file, and its mistakes as (line, field, message)."""
    data = data.encode() if isinstance(data, str) else data
    errors = ErrorList()
    rows = list(read_entries(Source("file", io.BytesIO(data), Caps(**caps)), errors, format=format))
    rows_of = [as_row(error) for error in errors]
    return [row.entry for row in rows], [(row["line"], row["field"], row["message"]) for row in rows_of]


def one(**fields) -> str:
    return json.dumps(PUBLISHED | fields)


def test_a_published_entry_is_read_whole():
    [entry], mistakes = read(json.dumps(PUBLISHED))

    assert mistakes == []
    assert entry == Entry(
        question="How often is a root key rotated?",
        expected_answer="At least every twelve months.",
        blocks=(EntryBlock("rotation", "handbook", (31, 32)),),
        domain="security",
        difficulty="easy",
        added_by="Mara Quill",
        added_at="2026-11-20",
        reviewed_by=("Jun Hallam", "Sef Arden"),
        resolution="consensus",
    )


def test_yaml_says_the_same_without_quotes():
    [entry], mistakes = read(
        "- question: How often is a root key rotated?\n"
        "  expected_block: {block_id: rotation, document_id: handbook, page_range: [31, 32]}\n"
        "  expected_answer: At least every twelve months.\n"
        "  metadata:\n"
        "    domain: security\n    difficulty: easy\n    added_by: Mara Quill\n    added_at: 2026-11-20\n"
        "    reviewed_by: [Jun Hallam, Sef Arden]\n    resolution: consensus\n",
        "yaml",
    )

    assert mistakes == []
    assert entry == read(json.dumps(PUBLISHED))[0][0]


def test_a_word_that_looks_like_a_number_or_a_norwegian_no_stays_text_in_yaml():
    [entry], mistakes = read(
        "question: 42\nexpected_block: {block_id: 4.20}\nexpected_answer: no\nmetadata: {domain: 007}\n", "yaml"
    )

    assert mistakes == []
    assert (entry.question, entry.blocks[0].block_id, entry.expected_answer, entry.domain) == (
        "42",
        "4.20",
        "no",
        "007",
    )


def test_several_blocks_stand_beside_the_first_of_them():
    blocks = [
        {"block_id": "rotation", "evidence": ["at least every twelve months"]},
        {"block_id": "access", "evidence": [{"text": "eight hours", "start": 28, "end": 39}]},
    ]

    [entry], mistakes = read(one(expected_blocks=blocks, match="all"))

    assert mistakes == []
    assert entry.match == "all"
    assert entry.blocks == (
        EntryBlock("rotation", "handbook", (31, 32), (Evidence("at least every twelve months"),)),
        EntryBlock("access", evidence=(Evidence("eight hours", 28, 39),)),
    )


@pytest.mark.parametrize("pages", [[31, 32], "31-32", "31–32", ["31", "32"]])
def test_pages_are_written_in_several_ways(pages):
    [entry], _ = read(one(expected_block={"block_id": "rotation", "page_range": pages}))

    assert entry.blocks[0].pages == (31, 32)


@pytest.mark.parametrize(("pages", "read_as"), [(31, (31, 31)), (None, None), ([None, None], None)])
def test_one_page_or_none(pages, read_as):
    [entry], _ = read(one(expected_block={"block_id": "rotation", "page_range": pages}))

    assert entry.blocks[0].pages == read_as


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"question": ""}, "question", "is empty"),
        ({"question": None}, "question", "is empty"),
        ({"question": 3}, "question", "must be text"),
        ({"question": "x" * 2001}, "question", "is longer than 2000 characters"),
        ({"expected_answer": "  "}, "expected_answer", "is empty"),
        ({"expected_block": None}, "expected_block", "is missing"),
        ({"expected_block": "rotation"}, "expected_block", "must be an object with fields of its own"),
        ({"expected_block": {}}, "expected_block.block_id", "is missing"),
        ({"expected_block": {"block_id": "a b"}}, "expected_block.block_id", "an id holds no blanks or control"),
        ({"expected_block": {"block_id": "a", "pages": 3}}, "expected_block.pages", "unknown field; known are"),
        ({"expected_block": {"block_id": "a", "page_range": [3]}}, "expected_block.page_range", "must be two pages"),
        ({"expected_block": {"block_id": "a", "page_range": [3, 2]}}, "expected_block.page_range", "the last page, 2"),
        ({"expected_block": {"block_id": "a", "page_range": [1.5, 2]}}, "expected_block.page_range", "a page is a"),
        ({"expected_block": {"block_id": "a", "evidence": [""]}}, "expected_block.evidence", "a passage is empty"),
        (
            {"expected_block": {"block_id": "a", "evidence": [{"text": "abc", "start": 1}]}},
            "expected_block.evidence[1].end",
            "start and end go together",
        ),
        (
            {"expected_block": {"block_id": "a", "evidence": [{"text": "abc", "start": 1, "end": 9}]}},
            "expected_block.evidence[1].end",
            "start to end are 8 characters, the text has 3",
        ),
        ({"expected_blocks": [{"block_id": "access"}]}, "expected_block", "is not the first of expected_blocks"),
        ({"expected_blocks": [{"block_id": "a"}, {"block_id": "a"}]}, "expected_blocks", "names a block twice"),
        ({"expected_blocks": [{"block_id": f"b{n}"} for n in range(21)]}, "expected_blocks", "holds more than 20"),
        ({"match": "some"}, "match", "is any, when each block alone answers"),
        ({"metadata": []}, "metadata", "must be an object with fields of its own"),
        ({"metadata": {"author": "x"}}, "metadata.author", "unknown field; known are added_at, added_by"),
        ({"metadata": {"domain": "x" * 81}}, "metadata.domain", "is longer than 80 characters"),
        ({"metadata": {"reviewed_by": [1]}}, "metadata.reviewed_by", "must be a list of texts"),
        ({"metadata": {"machine_written": "yes"}}, "metadata.machine_written", "is true, false, or an object with by"),
        ({"metadata": {"machine_written": {"model": "x"}}}, "metadata.machine_written.model", "unknown field; known"),
        ({"anything": 1}, "anything", "unknown field; known are expected_answer"),
        ({"id": "T 1"}, "id", "an id holds no blanks or control characters"),
    ],
)
def test_each_mistake_names_its_line_and_field(fields, field, message):
    found, [(line, named, said)] = read(f"{one()}\n{one(**fields)}\n")

    assert len(found) == 1
    assert (line, named) == (2, field)
    assert said.startswith(message)


def test_a_mistake_in_yaml_names_the_line_of_the_field_itself():
    entry = "- question: When?\n  expected_block:\n    block_id: a\n    page_range: [9, 3]\n  expected_answer: Now.\n"

    _, mistakes = read(entry + entry.replace("[9, 3]", "[3, 9]").replace("Now.", "''"), "yaml")

    assert mistakes == [
        (4, "expected_block.page_range", "the last page, 3, comes before the first, 9"),
        (10, "expected_answer", "is empty"),
    ]


# Bombs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- &a {question: x}\n- *a\n", 2, "aliases are not read; write the value out"),
        ("- question: !!python/object/apply:os.system [ls]\n", 1, "tags are not read; leave it out"),
        ("- question: a\n  question: b\n", 2, "the field is there twice"),
        ("- [a]\n", 1, "an entry is a list item with fields of its own"),
        ("- ? [a]\n  : b\n", 1, "the name of a field is a text"),
        ('- question: "a\\0b"\n', 1, "a text holds a character that cannot be kept"),
    ],
)
def test_yaml_takes_nothing_that_json_has_not(text, line, message):
    _, mistakes = read(text + "- {question: When?, expected_block: {block_id: a}, expected_answer: Now.}\n", "yaml")

    assert [(at, said) for at, _, said in mistakes if said == message] == [(line, message)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "the YAML is nested deeper than 64 levels"),
        ("- question: 'never closed\n", "this is not YAML: found unexpected end of stream"),
        ("- a: b\n c: d\n", "this is not YAML: "),
        ("- question: [" + "a," * 6_000 + "]\n", "the entry holds more than 5,000 values"),
        ("- a: \x07\n", "this is not YAML: a character that YAML does not take"),
        ("", "the file holds no entries"),
        ("[]\n", "the file holds no entries"),
        ("- a: \udcff\n".encode(errors="surrogateescape"), "is not UTF-8"),
    ],
)
def test_a_yaml_file_that_cannot_be_read_on_is_refused_in_words(text, message):
    with pytest.raises(InputError) as refused:
        read(text, "yaml")

    assert message in refused.value.message


def test_an_endless_yaml_line_is_refused_before_it_is_read():
    with pytest.raises(InputError, match="the line is longer than 1,000 bytes"):
        read("- question: " + "x" * 5_000, "yaml", line_bytes=1_000)


def test_a_billion_laughs_stay_quiet():
    levels = ["- &a0 [" + ", ".join(["lol"] * 9) + "]"]
    levels += [f"- &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 20)]

    found, mistakes = read("\n".join(levels), "yaml")

    assert found == []
    assert len(mistakes) == 20


# Writing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=150, deadline=None)
@given(entry=entries())
@example(entry=Entry("a\nb", "x\n\n y\n", (EntryBlock("b"),)))
@example(entry=Entry("a\n\x85b", "\ufeffx\ny", (EntryBlock("b"),), note="\n  lead\n"))
@example(entry=Entry("a", "\x1bx\ny", (EntryBlock("b"),)))
@example(entry=Entry("# a\n- b", "'", (EntryBlock("b"),), note='"\\'))
def test_what_is_written_is_read_back_and_written_the_same(format, entry):
    entry = entry._replace(question=entry.question.strip(), expected_answer=entry.expected_answer.strip())
    data = b"".join(write_entries([entry, entry], format=format))

    found, mistakes = read(data, format)

    assert mistakes == []
    assert found == [entry, entry]
    assert b"".join(write_entries(found, format=format)) == data


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


def test_yaml_is_written_for_people_to_read():
    entry = read(one(expected_answer="Twelve months.\n\nAt once when a custodian leaves."))[0][0]

    assert b"".join(write_entries([entry], format="yaml")).decode() == (
        "- query_id: null\n"
        '  question: "How often is a root key rotated?"\n'
        "  expected_block:\n"
        '    block_id: "rotation"\n'
        '    document_id: "handbook"\n'
        "    page_range: [31, 32]\n"
        "  expected_blocks:\n"
        '    - block_id: "rotation"\n'
        '      document_id: "handbook"\n'
        "      page_range: [31, 32]\n"
        "      evidence: []\n"
        '  match: "any"\n'
        "  expected_answer: |-\n"
        "    Twelve months.\n"
        "\n"
        "    At once when a custodian leaves.\n"
        "  metadata:\n"
        '    domain: "security"\n'
        '    difficulty: "easy"\n'
        '    added_by: "Mara Quill"\n'
        '    added_at: "2026-11-20"\n'
        "    reviewed_by:\n"
        '      - "Jun Hallam"\n'
        '      - "Sef Arden"\n'
        '    resolution: "consensus"\n'
        "    machine_written: false\n"
    )


def test_no_entries_are_an_empty_list():
    assert b"".join(write_entries([], format="yaml")) == b"[]\n"
    assert b"".join(write_entries([], format="jsonl")) == b""
