"""Entries for tests, drawn by Hypothesis and written by hand."""

from hypothesis import strategies as st

from apps.triples.formats.entry import Entry, EntryBlock, Evidence

STORABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.text(STORABLE, min_size=1, max_size=60).filter(lambda text: text.strip())
TRIMMED = TEXTS.map(str.strip)
WORDS = st.one_of(st.just(""), TRIMMED)
IDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
PAGES = st.one_of(
    st.none(), st.tuples(st.integers(0, 900), st.integers(0, 90)).map(lambda ends: (ends[0], ends[0] + ends[1]))
)


@st.composite
def evidence(draw):
    text = draw(TEXTS)
    start = draw(st.one_of(st.none(), st.integers(0, 10_000)))
    return Evidence(text) if start is None else Evidence(text, start, start + len(text))


BLOCKS = st.builds(
    EntryBlock,
    block_id=IDS,
    document_id=st.one_of(st.just(""), IDS),
    pages=PAGES,
    evidence=st.lists(evidence(), max_size=3).map(tuple),
)


@st.composite
def entries(draw):
    """Any entry that can be written: its texts hold whatever a database can keep."""
    is_machine = draw(st.booleans())
    return Entry(
        question=draw(TRIMMED),
        expected_answer=draw(TRIMMED),
        blocks=tuple(draw(st.lists(BLOCKS, min_size=1, max_size=3, unique_by=lambda block: block.block_id))),
        match=draw(st.sampled_from(["any", "all"])),
        id=draw(st.one_of(st.just(""), IDS)),
        query_id=draw(st.one_of(st.just(""), IDS)),
        domain=draw(WORDS),
        difficulty=draw(WORDS),
        source=draw(WORDS),
        added_by=draw(WORDS),
        added_at=draw(WORDS),
        reviewed_by=tuple(draw(st.lists(TRIMMED, max_size=2))),
        resolution=draw(WORDS),
        is_machine_written=is_machine,
        machine=draw(WORDS) if is_machine else "",
        adopted_by=draw(WORDS) if is_machine else "",
        split=draw(st.one_of(st.none(), st.just(""), st.just("dev"))),
        note=draw(st.one_of(st.just(""), TEXTS)),
        corpus=draw(WORDS),
        snapshot=draw(WORDS),
    )


PUBLISHED = {
    "question": "How often is a root key rotated?",
    "expected_block": {"block_id": "rotation", "document_id": "handbook", "page_range": [31, 32]},
    "expected_answer": "At least every twelve months.",
    "metadata": {
        "domain": "security",
        "difficulty": "easy",
        "added_by": "Mara Quill",
        "added_at": "2026-11-20",
        "reviewed_by": ["Jun Hallam", "Sef Arden"],
        "resolution": "consensus",
    },
}
