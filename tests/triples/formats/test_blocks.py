import pytest

from apps.triples.formats.entry import EntryBlock, Evidence
from tests.triples.formats.reading import one, read


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


@pytest.mark.parametrize("pages", [[31, 32], "31-32", "31–32", ["31", "32"]])
def test_pages_are_written_in_several_ways(pages):
    [entry], _ = read(one(expected_block={"block_id": "rotation", "page_range": pages}))

    assert entry.blocks[0].pages == (31, 32)


@pytest.mark.parametrize(("pages", "read_as"), [(31, (31, 31)), (None, None), ([None, None], None)])
def test_one_page_or_none(pages, read_as):
    [entry], _ = read(one(expected_block={"block_id": "rotation", "page_range": pages}))

    assert entry.blocks[0].pages == read_as
