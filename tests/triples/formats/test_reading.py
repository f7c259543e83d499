import json

import pytest

from apps.triples.formats.entry import Entry, EntryBlock, Evidence
from tests.triples.formats.entries import PUBLISHED
from tests.triples.formats.reading import one, read


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
        (
            {"expected_block": {"block_id": "a b"}},
            "expected_block.block_id",
            "an id must not contain blanks or control",
        ),
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
        ({"expected_blocks": [{"block_id": f"b{n}"} for n in range(21)]}, "expected_blocks", "has more than 20"),
        ({"match": "some"}, "match", "is any, when each block alone answers"),
        ({"metadata": []}, "metadata", "must be an object with fields of its own"),
        ({"metadata": {"writer": "x"}}, "metadata.writer", "unknown field; known are added_at, added_by"),
        ({"metadata": {"domain": "x" * 81}}, "metadata.domain", "is longer than 80 characters"),
        ({"metadata": {"reviewed_by": [1]}}, "metadata.reviewed_by", "must be a list of texts"),
        ({"metadata": {"machine_written": "yes"}}, "metadata.machine_written", "is true, false, or an object with by"),
        ({"metadata": {"machine_written": {"model": "x"}}}, "metadata.machine_written.model", "unknown field; known"),
        ({"anything": 1}, "anything", "unknown field; known are expected_answer"),
        ({"id": "T 1"}, "id", "an id must not contain blanks or control characters"),
    ],
)
def test_each_mistake_names_its_line_and_field(fields, field, message):
    found, [(line, named, said)] = read(f"{one()}\n{one(**fields)}\n")

    assert len(found) == 1
    assert (line, named) == (2, field)
    assert said.startswith(message)


def test_several_expected_blocks_are_read_in_order():
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


@pytest.mark.parametrize(
    ("pages", "read_as"),
    [
        ([31, 32], (31, 32)),
        ("31-32", (31, 32)),
        ("31–32", (31, 32)),
        (["31", "32"], (31, 32)),
        (31, (31, 31)),
        (None, None),
        ([None, None], None),
    ],
)
def test_pages_are_written_in_several_ways(pages, read_as):
    [entry], _ = read(one(expected_block={"block_id": "rotation", "page_range": pages}))

    assert entry.blocks[0].pages == read_as
