import json

import pytest

from apps.common.errors import InputError
from apps.triples.formats import write_entries
from tests.triples.formats.entries import PUBLISHED
from tests.triples.formats.reading import one, read


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


def test_a_mistake_in_yaml_names_the_line_of_the_field_itself():
    entry = "- question: When?\n  expected_block:\n    block_id: a\n    page_range: [9, 3]\n  expected_answer: Now.\n"

    _, mistakes = read(entry + entry.replace("[9, 3]", "[3, 9]").replace("Now.", "''"), "yaml")

    assert mistakes == [
        (4, "expected_block.page_range", "the last page, 3, comes before the first, 9"),
        (10, "expected_answer", "is empty"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- &a {question: x}\n- *a\n", 2, "aliases are not read; write the value out"),
        ("- question: !!python/object/apply:os.system [ls]\n", 1, "tags are not read; leave it out"),
        ("- question: a\n  question: b\n", 2, "the field is there twice"),
        ("- [a]\n", 1, "an entry is a list item with fields of its own"),
        ("- ? [a]\n  : b\n", 1, "the name of a field is a text"),
        ('- question: "a\\0b"\n', 1, "a text contains a character that cannot be stored"),
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
        ("- question: [" + "a," * 6_000 + "]\n", "the entry has more than 5,000 values"),
        ("- a: \x07\n", "this is not YAML: a character that YAML does not allow"),
        ("", "the file contains no entries"),
        ("[]\n", "the file contains no entries"),
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
