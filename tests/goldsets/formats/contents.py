"""Versions of any content, for properties of the forms: what the app can hold, in its order."""

from hypothesis import strategies as st

from apps.goldsets.formats.content import ExpectedBlock, FrozenBlock, FrozenQuery, GradeRow, JudgementRow, TripleRow
from tests.goldsets.content import ListContent

LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff")
IDS = st.text(st.characters(categories=["L", "N"], include_characters="-._:/"), min_size=1, max_size=8)
LINE = st.text(LETTERS, max_size=20).map(str.strip)
WORDS = LINE.filter(bool)
TEXT = st.lists(WORDS, min_size=1, max_size=3).map("\n".join)
WORD = st.text(st.characters(categories=["L", "N"]), max_size=8)
SPLITS = st.sampled_from(["dev", "test"])
METADATA = st.dictionaries(st.text("abcxyz", min_size=1, max_size=3), st.one_of(LINE, st.integers(0, 9)), max_size=2)
FACET = st.builds(
    lambda key, words: {"id": key, "words": " ".join(f"on {words}".split())},
    st.from_regex("[A-Za-z1-9][A-Za-z0-9._-]{0,4}", fullmatch=True),
    st.text("aé1 ,", max_size=9),
)
FACETS = st.lists(FACET, max_size=2, unique_by=lambda facet: facet["id"].lower()).map(tuple)


def ordered(ids):
    return sorted(ids, key=str.encode)


@st.composite
def versions(draw):
    query_ids = ordered(draw(st.sets(IDS, min_size=1, max_size=4)))
    block_ids = ordered(draw(st.sets(IDS, min_size=1, max_size=4)))
    queries = [draw(queries_called(query_id)) for query_id in query_ids]
    blocks = [draw(blocks_called(block_id)) for block_id in block_ids]
    grades = [
        GradeRow(q.query_id, b.block_id, draw(st.integers(0, 3)), q.split, "single", 1, q.text, b.title)
        for q in queries
        for b in blocks
        if draw(st.booleans())
    ]
    triples = [draw(triples_called(f"T-{n:04}", queries, blocks)) for n in range(1, 1 + draw(st.integers(0, 3)))]
    answers = [draw(answers_on(grade, person)) for grade in grades for person in ("person 1", "person 2")]
    return ListContent(queries, blocks, grades, triples, judgement_rows=answers)


def queries_called(query_id):
    return st.builds(
        FrozenQuery,
        query_id=st.just(query_id),
        text=WORDS,
        label=LINE,
        intent=LINE,
        description=LINE,
        source=WORD,
        difficulty=st.sampled_from(["", "easy", "medium", "hard"]),
        domain=WORD,
        query_type=WORD,
        group=WORD,
        tags=st.lists(WORD.filter(bool), max_size=2, unique=True).map(tuple),
        metadata=METADATA,
        split=SPLITS,
        facets=FACETS,
        expertise=WORD,
        answer_format=WORD,
        asked_on=st.sampled_from(["", "2026-03-01"]),
        unanswerable=st.none(),
    )


def blocks_called(block_id):
    return st.builds(
        FrozenBlock,
        block_id=st.just(block_id),
        document_id=IDS,
        document_title=LINE,
        title=LINE,
        text=TEXT,
        section=st.lists(WORDS, max_size=2).map(tuple),
        page_start=st.sampled_from([None, 3]),
        metadata=METADATA,
    ).map(lambda block: block._replace(page_end=block.page_start and block.page_start + 1, redacted=None))


@st.composite
def triples_called(draw, label, queries, blocks):
    chosen = draw(st.lists(st.sampled_from(blocks), min_size=1, max_size=2, unique_by=lambda block: block.block_id))
    return TripleRow(
        label,
        question=draw(TEXT),
        expected_answer=draw(TEXT),
        blocks=tuple(
            ExpectedBlock(
                block.block_id,
                block.document_id,
                *draw(st.sampled_from([(None, None), (3, 3), (3, 4)])),
                evidence=tuple(draw(st.lists(WORDS, max_size=2, unique=True))),
            )
            for block in chosen
        ),
        match=draw(st.sampled_from(["any", "all"])),
        query_id=draw(st.sampled_from(["", *(query.query_id for query in queries)])),
        domain=draw(WORD),
        difficulty=draw(st.sampled_from(["", "easy", "medium", "hard"])),
        added_by=draw(WORDS),
        added_at="2026-11-01T08:00:00Z",
        reviewed_by=tuple(draw(st.lists(WORD.filter(bool), max_size=2))),
        resolution=draw(st.sampled_from(["", "consensus"])),
        is_machine_written=draw(st.booleans()),
        split=draw(SPLITS),
    )


@st.composite
def answers_on(draw, grade, person):
    given = draw(st.one_of(st.none(), st.integers(0, 3)))
    return JudgementRow(
        grade.query_id, grade.block_id, 1, person, 1, given,
        "" if given is not None else "unreadable", draw(LINE), "2026-11-01T08:00:00Z", 900, 0, 1, grade.split,
    )  # fmt: skip
