"""Quepid: the judgements of a book, the ratings of a case, as CSV or JSON, and files of ratings for RRE.

The JSON of a book has each judge by e-mail, its CSV a column for each judge. Ratings of a case belong to nobody.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.common.errors import InputError
from apps.common.files.anytable import Table, open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_list
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import plain_heading
from apps.judging.core import table_roles as roles
from apps.judging.formats.tools.rows import Record, ToolRow, knowing, table_of, text_of

PAIRS, QUERIES = "query_doc_pairs", "queries"
TOPICS, GROUPS = "topics", "query_groups"
FIRST_COLUMNS = ["query", "docid"]
NOBODY = "Unknown"
"""What Quepid calls who has no account any more."""
KNOWN = {
    "query": roles.QUERY,
    "docid": roles.PASSAGE,
    "rating": roles.GRADE,
    "judge": roles.PERSON,
    "explanation": roles.NOTE,
    "position": roles.RANK,
}


def is_json(head: str) -> bool:
    """Whether a file that begins so is the JSON of a book, a case or ratings."""
    has_ratings = '"ratings"' in head or '"relevant_documents"' in head
    return head.startswith("{") and (f'"{PAIRS}"' in head or (f'"{QUERIES}"' in head and has_ratings))


def is_book(headings: Sequence[str]) -> bool:
    """Whether these are the headings of a book's CSV: behind query and docid the judges by name, and nothing else."""
    judges = headings[2:]
    return list(headings[:2]) == FIRST_COLUMNS and bool(judges) and not any(_is_usual(name) for name in judges)


def open_export(source: TableFile, errors: ErrorList) -> Table:
    """The export as a table. Raises InputError for what is none."""
    head = source.head(64).decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    if not head.startswith("{"):
        return _with_judges(open_table(source, errors))
    reader = _Reader(source, errors)
    table = table_of(source, errors, reader.rows(), how="")
    return knowing(table._replace(how=reader.how), KNOWN, reader.notes)


def _with_judges(table: Table) -> Table:
    """The table with what its columns are: all without a usual heading have the ratings of one judge."""
    if table.headings[:2] != FIRST_COLUMNS:
        return table
    judges = [heading for heading in table.headings[2:] if not _is_usual(heading)]
    known = {heading: role for heading, role in KNOWN.items() if heading in table.headings}
    how = "a book of Quepid, CSV" if judges else "ratings of Quepid, CSV"
    return table._replace(how=how, known=known | dict.fromkeys(judges, roles.RATED))


def _is_usual(heading: str) -> bool:
    return any(plain_heading(heading) in role.headings for role in roles.ROLES)


class _Reader:
    def __init__(self, source: TableFile, errors: ErrorList) -> None:
        self.source = source
        self.errors = errors
        self.unrated = 0
        self.how = "a book of Quepid"

    @property
    def notes(self) -> list[str]:
        if not self.unrated:
            return []
        are = "judgement is" if self.unrated == 1 else "judgements are"
        return [f"{self.unrated:,} {are} marked as not rateable or to judge later, and no grade."]

    def rows(self) -> Iterator[ToolRow]:
        found = False
        forms = ((PAIRS, self._of_pair), (QUERIES, self._of_query), (TOPICS, self._of_topic), (GROUPS, self._of_group))
        for field, rows_of in forms:
            for line, record in read_list(self.source, self.errors, field=field):
                found = True
                try:
                    yield from rows_of(line, record)
                except InputError as error:
                    self.errors.add(error)
            if found or self.errors:
                return
            self.how = "a case of Quepid"

    def _of_pair(self, line: int, record: Record) -> Iterator[ToolRow]:
        cells = {
            "query": self._text(line, record, "query_text"),
            "docid": self._text(line, record, "doc_id"),
            "position": text_of(record.get("position")),
        }
        judgements = record.get("judgements") or []
        if not isinstance(judgements, list) or not all(isinstance(one, dict) for one in judgements):
            raise self.source.error(line, "judgements", judgements, "is a list of judgements")
        for one in judgements:
            if one.get("rating") is None or one.get("unrateable") or one.get("judge_later"):
                self.unrated += 1
                continue
            judge = text_of(one.get("user_email")) or NOBODY
            note = text_of(one.get("explanation"))
            yield ToolRow(line, cells | {"rating": text_of(one["rating"]), "judge": judge, "explanation": note})

    def _of_topic(self, line: int, record: Record) -> Iterator[ToolRow]:
        for group in self._inner(line, record, GROUPS):
            yield from self._of_group(line, group)

    def _of_group(self, line: int, record: Record) -> Iterator[ToolRow]:
        """Queries that share their documents, as files for RRE group them."""
        for query in self._inner(line, record, QUERIES):
            yield from self._of_query(line, {"relevant_documents": record.get("relevant_documents"), **query})

    def _inner(self, line: int, record: Record, field: str) -> list[Record]:
        inner = record.get(field)
        if not isinstance(inner, list) or not all(isinstance(one, dict) for one in inner):
            raise self.source.error(line, field, inner, "is a list of objects")
        return inner

    def _of_query(self, line: int, record: Record) -> Iterator[ToolRow]:
        placeholders = record.get("placeholders")
        named = {"query": placeholders.get("$query")} if isinstance(placeholders, dict) else record
        query = self._text(line, named, "query_text" if "query_text" in named else "query")
        ratings = dict(self._ratings(line, record))
        for doc_id, rating in (ratings or {"": ""}).items():
            yield ToolRow(line, {"query": query, "docid": doc_id, "rating": rating})

    def _ratings(self, line: int, record: Record) -> Iterator[tuple[str, str]]:
        """Passage and rating: by passage, or as the form for RRE has them, the passages of each rating."""
        grouped = record.get("relevant_documents")
        ratings = record.get("ratings") or {}
        if isinstance(grouped, list) and all(isinstance(one, dict) for one in grouped):
            grouped = {doc_id: said for one in grouped for doc_id, said in one.items()}
        if isinstance(grouped, dict):
            for key, said in grouped.items():
                if isinstance(said, dict):
                    yield key, text_of(said.get("gain"))
                else:
                    yield from ((text_of(doc_id), key) for doc_id in (said if isinstance(said, list) else []))
        elif isinstance(ratings, dict):
            yield from ((doc_id.strip(), text_of(rating)) for doc_id, rating in ratings.items())
        elif isinstance(ratings, list) and all(isinstance(one, Mapping) for one in ratings):
            yield from ((text_of(one.get("doc_id")), text_of(one.get("rating"))) for one in ratings)
        else:
            raise self.source.error(line, "ratings", ratings, "has a rating for each passage")

    def _text(self, line: int, record: Mapping[str, Any], field: str) -> str:
        if text := text_of(record.get(field)):
            return text
        raise self.source.error(line, field, "", "is missing")
