"""What the columns of a table of queries can be."""

from collections.abc import Sequence

from apps.corpus.core.import_plans import ColumnRole, share
from apps.queries.enums import Difficulty

TEXT, QUERY_ID, INTENT, LABEL, DESCRIPTION = "text", "query_id", "intent", "label", "description"
TAGS, DIFFICULTY, DOMAIN, QUERY_TYPE, GROUP, SOURCE = "tags", "difficulty", "domain", "query_type", "group", "source"

TEXT_HEADINGS = (
    "query", "queries", "search", "searches", "search term", "search terms", "search query", "search phrase",
    "query text", "keyword", "keywords", "question", "questions", "text", "q", "term", "phrase", "user query", "suche",
    "suchanfrage", "suchbegriff", "anfrage", "frage",
)  # fmt: skip
ID_HEADINGS = ("query id", "qid", "id", "topic", "topic id", "query no", "query number", "number", "no", "nr")
DIFFICULTIES = {
    "easy": Difficulty.EASY,
    "simple": Difficulty.EASY,
    "low": Difficulty.EASY,
    "leicht": Difficulty.EASY,
    "einfach": Difficulty.EASY,
    "medium": Difficulty.MEDIUM,
    "mittel": Difficulty.MEDIUM,
    "normal": Difficulty.MEDIUM,
    "hard": Difficulty.HARD,
    "difficult": Difficulty.HARD,
    "high": Difficulty.HARD,
    "schwer": Difficulty.HARD,
    "schwierig": Difficulty.HARD,
}


def _as_texts(values: Sequence[str]) -> float:
    return share(values, lambda value: any(letter.isalpha() for letter in value) and "://" not in value)


def _as_ids(values: Sequence[str]) -> float:
    """Short, without blanks, and mostly different from each other."""
    if any(letter.isspace() for value in values for letter in value):
        return 0.0
    return 0.5 + 0.5 * len(set(values)) / len(values)


def _as_difficulties(values: Sequence[str]) -> float:
    return 0.2 + 0.8 * share(values, lambda value: value.casefold() in DIFFICULTIES)


ROLES = (
    ColumnRole(TEXT, "Query", TEXT_HEADINGS, _as_texts, by_values=True),
    ColumnRole(QUERY_ID, "Query id", ID_HEADINGS, _as_ids),
    ColumnRole(INTENT, "Intent", ("intent", "need", "information need", "narrative", "meaning", "what is meant")),
    ColumnRole(LABEL, "Label", ("label", "name", "short name", "title")),
    ColumnRole(DESCRIPTION, "Description", ("description", "desc", "details", "notes", "note", "comment")),
    ColumnRole(TAGS, "Tags", ("tags", "tag", "topics", "category", "categories")),
    ColumnRole(DIFFICULTY, "Difficulty", ("difficulty", "level", "schwierigkeit"), _as_difficulties),
    ColumnRole(DOMAIN, "Domain", ("domain", "area", "subject", "department", "bereich")),
    ColumnRole(QUERY_TYPE, "Kind of query", ("query type", "type", "kind", "intent type")),
    ColumnRole(GROUP, "Group", ("group", "entity", "session", "user group")),
    ColumnRole(SOURCE, "Source", ("source", "origin", "quelle")),
)
HOW = {
    TEXT: "text of the search",
    QUERY_ID: "id of the query",
    INTENT: "what is meant, shown when judging",
    LABEL: "a short name",
    DESCRIPTION: "beside the query",
    TAGS: "divided by ; or ,",
    DIFFICULTY: "easy, standard, medium or hard",
    DOMAIN: "a stratum of scores",
    QUERY_TYPE: "a stratum of scores",
    GROUP: "kept together in a split",
    SOURCE: "a source of this project, by name",
}
