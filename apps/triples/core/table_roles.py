"""What the columns of a table of questions and answers can be."""

from collections.abc import Sequence

from apps.corpus.core.columns import ColumnRole, share

QUESTION, ANSWER, PASSAGE, EVIDENCE = "question", "answer", "passage", "evidence"
DOMAIN, DIFFICULTY, SOURCE, NOTE = "domain", "difficulty", "source", "note"


def _as_texts(values: Sequence[str]) -> float:
    return share(values, lambda value: any(letter.isalpha() for letter in value))


ROLES = (
    ColumnRole(QUESTION, "Question", ("question", "questions", "query", "q", "frage", "prompt"), _as_texts),
    ColumnRole(
        ANSWER,
        "Answer",
        ("answer", "expected answer", "reference answer", "gold answer", "ground truth", "a", "antwort", "response"),
        _as_texts,
    ),
    ColumnRole(
        PASSAGE,
        "Passage",
        (
            "url", "link", "address", "page", "passage", "passage id", "block", "block id", "doc", "doc id", "document",
            "document id", "path", "context", "expected block", "seite", "adresse", "dokument",
        ),
    ),
    ColumnRole(EVIDENCE, "Evidence", ("evidence", "quote", "excerpt", "span", "highlight", "beleg"), _as_texts),
    ColumnRole(DOMAIN, "Domain", ("domain", "area", "subject", "topic", "category")),
    ColumnRole(DIFFICULTY, "Difficulty", ("difficulty", "level")),
    ColumnRole(SOURCE, "Source", ("source", "origin")),
    ColumnRole(NOTE, "Note", ("note", "notes", "comment", "comments", "remark", "remarks")),
)  # fmt: skip
HOW = {
    QUESTION: "what is asked",
    ANSWER: "what is expected",
    EVIDENCE: "the words of the passage that answer it",
    DOMAIN: "a stratum of scores",
    DIFFICULTY: "easy, standard, medium or hard",
    SOURCE: "the name of a source of this project",
    NOTE: "for the reviewers",
}
