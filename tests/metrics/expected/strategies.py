"""Small random questions and passages, in which everything collides often."""

from hypothesis import strategies as st

from apps.metrics.expected.rules import ExpectedBlock, Question, Returned

WORDS = ("audit", "records", "stay", "90", "days", "in", "the", "console")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
documents = st.sampled_from(("north", "south"))
pages = st.tuples(st.integers(1, 6), st.integers(0, 2)).map(lambda ends: (ends[0], ends[0] + ends[1]))
names = st.sampled_from("abcdef")

blocks = st.builds(
    ExpectedBlock,
    block_id=names,
    document_id=documents,
    pages=pages,
    evidence=st.lists(texts, min_size=1, max_size=2).map(tuple),
)
questions = st.builds(
    Question,
    id=st.just("T-0001"),
    expected=st.lists(blocks, min_size=1, max_size=3, unique_by=lambda block: block.block_id).map(tuple),
    needs_all=st.booleans(),
)
passages = st.builds(Returned, id=names, document_id=documents, pages=st.none() | pages, text=texts)
rankings = st.lists(passages, max_size=8)


def exactly(question: Question) -> list[Returned]:
    """A ranking of exactly the expected blocks."""
    return [Returned(b.block_id, b.document_id, b.pages, " ".join(b.evidence)) for b in question.expected]
