"""What the columns of a table of queries can be."""

from collections.abc import Sequence

from apps.corpus.core.import_plans import ColumnRole, share
from apps.queries.enums import Difficulty

TEXT, QUERY_ID, INTENT, LABEL, DESCRIPTION = "text", "query_id", "intent", "label", "description"
TAGS, DIFFICULTY, DOMAIN, QUERY_TYPE, GROUP, SOURCE = "tags", "difficulty", "domain", "query_type", "group", "source"
FACETS = "facets"
EXPERTISE, FORMAT, DAY = "expertise", "answer_format", "asked_on"

TEXT_HEADINGS = (
    "query", "queries", "search", "searches", "search term", "search terms", "search query", "search phrase",
    "query text", "keyword", "keywords", "question", "questions", "text", "q", "term", "phrase", "user query", "suche",
    "suchanfrage", "suchbegriff", "anfrage", "frage", "body", "raw utterance", "utterance",
)  # fmt: skip
OWN_IDS = ("query id", "qid", "topic id", "question id", "turn id", "query no", "query number", "topic number")
ID_HEADINGS = (*OWN_IDS, "id", "topic", "number", "no", "nr")
OF_OTHERS = frozenset(
    {
        "annotation",
        "annotator",
        "article",
        "block",
        "chunk",
        "corpus",
        "doc",
        "docs",
        "document",
        "hash",
        "hit",
        "hits",
        "item",
        "job",
        "label",
        "page",
        "passage",
        "product",
        "project",
        "rater",
        "record",
        "result",
        "row",
        "session",
        "snapshot",
        "task",
        "url",
        "user",
        "worker",
    }
)
"""Words of headings whose ids and titles are not those of a query."""
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
    """With letters; what has several words, or no digit, is rather a query than an id."""
    has_letters = share(values, lambda value: any(letter.isalpha() for letter in value) and "://" not in value)
    no_digits = share(values, lambda value: not any(map(str.isdigit, value)))
    return has_letters * (0.55 + 0.05 * no_digits + 0.4 * share(values, lambda value: " " in value))


def _as_ids(values: Sequence[str]) -> float:
    """Mostly without blanks, and different from each other."""
    if share(values, lambda value: any(map(str.isspace, value))) >= 0.5:
        return 0.0
    return 0.5 + 0.5 * len(set(values)) / len(values)


def _as_difficulties(values: Sequence[str]) -> float:
    return 0.2 + 0.8 * share(values, lambda value: value.casefold() in DIFFICULTIES)


ROLES = (
    ColumnRole(TEXT, "Query", TEXT_HEADINGS, _as_texts, by_values=True),
    ColumnRole(QUERY_ID, "Query id", ID_HEADINGS, _as_ids, by_place=True, foreign=OF_OTHERS, of=TEXT, sure=OWN_IDS),
    ColumnRole(INTENT, "Intent", ("intent", "need", "information need", "narrative", "meaning", "what is meant")),
    ColumnRole(LABEL, "Label", ("label", "name", "short name", "title"), foreign=OF_OTHERS, of=TEXT),
    ColumnRole(
        DESCRIPTION,
        "Description",
        ("description", "desc", "details", "notes", "note", "comment", "background"),
        foreign=OF_OTHERS,
        of=TEXT,
    ),
    ColumnRole(TAGS, "Tags", ("tags", "tag", "topics", "category", "categories")),
    ColumnRole(DIFFICULTY, "Difficulty", ("difficulty", "level", "schwierigkeit"), _as_difficulties),
    ColumnRole(DOMAIN, "Domain", ("domain", "area", "subject", "department", "bereich")),
    ColumnRole(
        QUERY_TYPE,
        "Kind of query",
        ("query type", "type", "kind", "intent type", "stratum", "strata", "segment", "band"),
    ),
    ColumnRole(GROUP, "Group", ("group", "entity", "session", "user group")),
    ColumnRole(SOURCE, "Source", ("source", "origin", "quelle")),
    ColumnRole(EXPERTISE, "Expertise", ("expertise", "user expertise", "audience level", "fachkenntnis")),
    ColumnRole(FORMAT, "Expected format", ("answer format", "expected format", "answer type", "antwortformat")),
    ColumnRole(DAY, "Day", ("asked on", "asked at", "query date")),
    ColumnRole(FACETS, "Subtopics", ("facets", "subtopics", "facet", "subtopic", "teilthemen")),
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
    EXPERTISE: "a stratum of scores",
    FORMAT: "a stratum of scores",
    DAY: "a day as 2026-03-01; its year is a stratum",
    FACETS: "1=words; 2=words",
}
