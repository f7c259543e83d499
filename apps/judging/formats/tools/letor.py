"""Judgement lists of learning to rank: lines of a grade, the number of a query, features, and a remark that names the
document, as the plugins of Elasticsearch, OpenSearch and Solr read them, Quepid writes them, and LETOR has them.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.anytable import MOST_ROWS, Table
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, read_lines
from apps.judging.core import table_roles as roles
from apps.judging.formats.tools.rows import ToolRow, knowing, table_of

_LINE = re.compile(r"\s*([+-]?[0-9.]+)\s+qid:(\S+)((?:\s+[0-9]+:\S+)*)\s*(?:#(.*))?\Z")
_NAMES_QUERY = re.compile(r"#\s*qid:(\S+?):?\s+(.*\S)\s*\Z")
_NAMES_DOCUMENT = re.compile(r"doc_?id\s*[=:]\s*(\S+)", re.IGNORECASE)
KNOWN = {"query": roles.QUERY, "query_id": roles.QUERY_ID, "docno": roles.PASSAGE, "grade": roles.GRADE}
FEATURES = "The features are not read."
REMARKS = "What stands behind the documents is not read: it differs within a query, and is not its words."
UNCLEAR = (
    "may be the query or the document: every query has one line. Write the words of each query on a line of its own "
    "before them: # qid:1: the words"
)


class _Judgement(NamedTuple):
    """A line: what its remark begins with, and the rest of the remark."""

    line: int
    grade: str
    qid: str
    first: str
    rest: str


def is_line(line: str) -> bool:
    return _LINE.match(line) is not None


def open_export(source: TableFile, errors: ErrorList) -> Table:
    """The list as a table. Raises InputError where no line has a grade, or it is not clear what is a query.

    Queries are found by their words: those of a line `# qid:1: rambo`, else what stands behind each document, where
    that is the same in all lines of a query. What is the same and stands before the documents is the query's id, as
    Karat exports it. Without any of them the number of the query is its id.
    """
    judgements, named, has_features = list[_Judgement](), dict[str, str](), False
    for number, line in read_lines(source):
        if query := _NAMES_QUERY.match(line):
            named[query[1]] = query[2]
        elif line.strip() and not line.lstrip().startswith("#"):
            found = _LINE.match(line)
            has_features |= found is not None and bool(found[3])
            try:
                judgements.append(_judgement(source, number, line, found))
            except InputError as error:
                errors.add(error)
        if len(judgements) > MOST_ROWS:  # which `table_of` refuses
            break
    notes = [FEATURES] if has_features else []
    if not named and _are_ids_first(source, judgements):
        rows = [{"query_id": one.first, "docno": one.rest} for one in judgements]
    elif words := _words(judgements, named):
        rows = [{"query": words[one.qid], "docno": one.first} for one in judgements]
    else:
        rows = [{"query_id": one.qid, "docno": one.first} for one in judgements]
        notes += [REMARKS] if any(one.rest for one in judgements) else []
    graded = (ToolRow(one.line, row | {"grade": one.grade}) for one, row in zip(judgements, rows, strict=True))
    return knowing(table_of(source, errors, graded, how="a judgement list of learning to rank"), KNOWN, notes)


def _judgement(source: TableFile, number: int, line: str, found: re.Match[str] | None) -> _Judgement:
    if found is None:
        raise source.error(number, "", line, "is not of the form: grade qid:1 # document")
    remark = (found[4] or "").strip()
    if named := _NAMES_DOCUMENT.match(remark):
        return _Judgement(number, found[1], found[2], named[1], "")
    if not remark:
        raise source.error(number, "docno", "", "is missing: the document stands behind the # of its line")
    first, _, rest = remark.replace("\t", " ").partition(" ")
    return _Judgement(number, found[1], found[2], first, rest.strip())


def _remarks(judgements: Sequence[_Judgement]) -> list[tuple[str, set[str], set[str]]]:
    """Each query by its number, with what its remarks begin with and how they go on."""
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for one in judgements:
        firsts, rests = found[one.qid]
        firsts.add(one.first)
        rests.add(one.rest)
    return [(qid, firsts, rests) for qid, (firsts, rests) in found.items()]


def _are_ids_first(source: TableFile, judgements: Sequence[_Judgement]) -> bool:
    """Whether all remarks are two words, and in most queries of several lines the first one is always the same.

    Raises InputError where they are, and no query tells which of them is the document.
    """
    if not judgements or any(len(one.rest.split()) != 1 for one in judgements):
        return False
    alike = unlike = 0
    for _, firsts, rests in _remarks(judgements):
        alike += len(firsts) == 1 < len(rests)
        unlike += len(firsts) > 1
    if alike == unlike:
        raise source.error(judgements[0].line, "", judgements[0].rest, UNCLEAR)
    return alike > unlike


def _words(judgements: Sequence[_Judgement], named: Mapping[str, str]) -> Mapping[str, str]:
    """The words of each query by its number; nothing where one has none."""
    words = named or {qid: rests.pop() for qid, _, rests in _remarks(judgements) if len(rests) == 1}
    return words if all(words.get(one.qid) for one in judgements) else {}
