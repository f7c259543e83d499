"""Judgements and runs from files, as columns, and a guess of what a file is of which no line could be read."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of
from apps.common.files.linefiles import LINE_END, chunks_of, lines_of, lines_of_chunks, name_of
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.metrics.columns import Ints, Judged, Ranked, faceted_columns
from apps.metrics.files.attributes import ADVICE, fit_of, fit_words, fitted, similar_pair
from apps.metrics.files.results import is_headed, judgements_in
from apps.metrics.files.run_tables import HEADING_BYTES, columns_of, rows_of, tag_of_name
from apps.metrics.files.trec_batches import RunPart, part_of, read_qrels_parts, read_run_parts
from apps.metrics.files.trec_rows import JudgedOnce, QrelRow, parse_qrels, read_run_rows
from apps.metrics.vocabulary import Bools, Ids, MarkIndex, Vocabulary, Words

Guess = Callable[[str], str]

WHOLE = re.compile(r"[+-]?[0-9]+\Z", re.A)
MARKS = {",": "commas", ";": "semicolons", "|": "bars"}
JSON_STARTS = ("{", "[")
JSON = "is JSON, not TREC's form"
OF_RUNS = "query Q0 block rank score tag, divided by blanks"
OF_QRELS = "query 0 block grade, divided by blanks"
UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
AS_TABLE = (
    "A first line such as query,block,grade makes it a table, which may be divided by commas, tabs or semicolons."
)
AS_RUN_TABLE = "A first line such as query,passage,rank,score makes it a table, divided by commas, tabs or semicolons."


def guess_of_run(line: str) -> str:
    """The likely kind of a file of runs with this line, as a sentence; "" without a guess."""
    fields = line.split()
    if columns_of(line.encode()):
        return ""
    if line.startswith(JSON_STARTS):
        return f"{JSON}. A run has lines of {OF_RUNS}."
    if mark := _mark_in(line):
        return f"is divided by {mark}. A run has lines of {OF_RUNS}. {AS_RUN_TABLE}"
    if len(fields) == 4 and WHOLE.match(fields[3]):
        return f"looks like judgements. A run has lines of {OF_RUNS}. Were two files swapped?"
    return ""


def guess_of_qrels(line: str) -> str:
    """As `guess_of_run`, for a file of judgements."""
    fields = line.split()
    if is_headed(line.encode()):
        return ""
    if line.startswith(JSON_STARTS):
        return f"{JSON}. Judgements have lines of {OF_QRELS}."
    if mark := _mark_in(line):
        return f"is divided by {mark}. Judgements have lines of {OF_QRELS}. {AS_TABLE}"
    if len(fields) == 6 and WHOLE.match(fields[3]):
        return "looks like a run. Are --qrels and --run swapped?"
    if len(fields) == 3 and WHOLE.match(fields[2]):
        return f"has three columns. Judgements have lines of {OF_QRELS}: put a 0 in second place. {AS_TABLE}"
    return ""


def no_guess(line: str) -> str:
    """For files whose format is known."""
    return ""


def raise_all(path: str | Path, errors: ErrorList, guess: Guess, *, has_rows: bool) -> NoReturn:
    """Raises InputErrors with the first errors, or one of them where no line could be read and all have the same
    error.
    """
    if not has_rows and errors.listed[0].line and errors.listed[0].field != LINE_END:
        if guessed := guess(_first_line(path, errors)):
            raise InputError(name_of(path), None, "", "", guessed)
        if len(errors) > 1 and len({(error.field, error.message) for error in errors}) == 1:
            first = min(errors, key=lambda error: error.line or 0)
            raise replace(first, message=f"{first.message} All {len(errors):,} lines have this error.")
    raise all_of(errors)


def _mark_in(line: str) -> str:
    """The separator of the line if it is not white space, in words."""
    return next((words for mark, words in MARKS.items() if line.count(mark) >= 2), "")


def _first_line(path: str | Path, errors: ErrorList) -> str:
    """The first line that is no comment; of input that can be read only once, the first refused one."""
    if str(path) != "-" and Path(path).is_file():
        lines = (line.strip() for line in lines_of(path, name_of(path)))
        first = next((line for line in lines if line and not line.startswith(b"#")), b"")
        return first.decode("utf-8", errors="replace")
    return min(errors, key=lambda error: error.line or 0).value.replace(UNPRINTABLE, "\t")


Reader = Callable[[str | Path, ErrorList], Iterator[Any]]
Read = TypeVar("Read")

MOST = (1 << 64) - 1
ROWS_AT_ONCE = 1 << 15
"""Rows of which all that is computed on the way fits a core's cache."""


class RunFile(NamedTuple):
    """One run from a file. `unjudged` names the queries of the file without judgements; they are not scored.

    `path` is the name of the file in errors. `ids` are the ids of blocks by number; unjudged blocks have numbers of
    this file only. `another` is a second tag in some rows; empty where all rows have `tag`. `fits` describes the ids
    that were read as judged ones, a sentence for queries and one for blocks. In `reordered` queries the ranks of the
    file give another order than its scores, which decide.
    """

    path: str
    tag: str
    ranked: Ranked
    ids: Ids
    unjudged: tuple[str, ...]
    another: str = ""
    fits: tuple[str, ...] = ()
    reordered: int = 0


def load_qrels(path: str | Path, blocks: Vocabulary | None = None, *, with_facets: bool = False) -> Judged:
    """The judgements of a qrels file, or of a table with a heading.

    Raises InputErrors for a malformed file and InputError for an empty one.

    Blocks are numbered by the vocabulary. Without one every row has a number of its own (`Judged.ids`): lookups then
    take half as long, which is enough wherever only the grade of a block is needed.

    `with_facets` reads the second column, or that of a table, as the facet of the query, and needs a vocabulary.
    Without it a pair that is judged for several facets has the best of its grades. The `remarks` of the result say so,
    and how many judgements are repeated.
    """
    chunks = None if Path(path).is_file() else list(chunks_of(path, name_of(path)))
    judged = None if with_facets else _plain_qrels(path, chunks, blocks)
    if judged is None:
        judged = _qrels_by_row(path, chunks, blocks, with_facets=with_facets)
    if not judged.queries:
        raise InputError(name_of(path), None, "", "", "contains no judgements.")
    return judged


def _plain_qrels(path: str | Path, chunks: Sequence[bytes] | None, blocks: Vocabulary | None) -> Judged | None:
    """The judgements of a file without a heading, in which no pair is there twice; None for any other."""
    start, all_chunks = _opened(path, chunks)
    if is_headed(start):
        return None
    parts = _whole(path, lambda path, errors: read_qrels_parts(path, errors, all_chunks), guess_of_qrels)
    numbers = Vocabulary()
    query = _spread(numbers.numbers_of(Ids.joined(part.queries for part in parts)), [part.lengths for part in parts])
    ids = Ids.joined(part.blocks for part in parts)
    queries = tuple(query_id.decode() for query_id in numbers)
    if len(_alike(_pair_marks(query, ids, len(queries)), query)):
        return None
    grade = np.concatenate([_no_ints(), *(part.grades for part in parts)])
    if blocks is None:
        return Judged(queries, query, np.arange(len(ids)), grade, ids=ids)
    return Judged(queries, query, blocks.numbers_of(ids), grade)


def _qrels_by_row(
    path: str | Path, chunks: Sequence[bytes] | None, blocks: Vocabulary | None, *, with_facets: bool
) -> Judged:
    """The judgements row by row: of a table, with facets, or where pairs are there twice."""
    name = name_of(path)
    once = JudgedOnce(name)

    def rows(path: str | Path, errors: ErrorList) -> Iterator[QrelRow]:
        start, all_chunks = _opened(path, chunks)
        once.errors = errors
        if is_headed(start):
            yield from judgements_in(_table(all_chunks, name), errors, once)
        else:
            yield from parse_qrels(lines_of_chunks(all_chunks, name), name, errors=errors, once=once)

    vocabulary = Vocabulary() if blocks is None else blocks
    found = ((row.query_id, row.facet, row.block_id, row.grade) for row in _whole(path, rows, guess_of_qrels))
    judged = faceted_columns(found, vocabulary)
    remarks = []
    if once.repeated:
        remarks.append(f"{plural(once.repeated, 'row repeats', 'rows repeat')} a judgement; each counts once.")
    if more := 0 if with_facets else once.facets_of(len(judged.grade)):
        remarks.append(f"{plural(more, 'row judges', 'rows judge')} a pair for one more facet; the best grade counts.")
    if not with_facets:
        judged = replace(judged, facets=None)
    if blocks is None:
        judged = replace(judged, block=np.arange(len(judged.block)), ids=vocabulary.ids.take(judged.block))
    return replace(judged, remarks=tuple(remarks))


def _opened(path: str | Path, chunks: Iterable[bytes] | None = None) -> tuple[bytes, Iterable[bytes]]:
    """The first bytes of a file, and all its chunks; those of a file that can be read only once were read before."""
    rest = chunks_of(path, name_of(path)) if chunks is None else iter(chunks)
    start = next(rest, b"")
    return start, chain([start], rest) if start else ()


def _table(chunks: Iterable[bytes], name: str) -> TableFile:
    return TableFile(name, io.BytesIO(b"".join(chunks)))


def load_run(path: str | Path, judged: Judged, blocks: Vocabulary | None = None, *, fits_ids: bool = False) -> RunFile:
    """The run of a file, TREC's or a table with a heading, named by the tag of its first row, else by the file.

    `blocks` is the vocabulary that the judgements were read with, None where they were read without. With `fits_ids`
    ids that nearly fit are read as the judged ones, where one unambiguous rule says which (`fit_of`).

    Raises InputErrors for a malformed file and for blocks that appear twice for a judged query, and InputError for a
    file without a row or without any judged query: its scores of zero would mean nothing.
    """
    parts = _whole(path, _run_parts, guess_of_run)
    if not parts:
        raise InputError(name_of(path), None, "", "", "contains no results.")
    known = _own_ids(judged) if blocks is None else blocks.ids
    stretches, all_ids = (
        Ids.joined(part.queries for part in parts),
        Ids.joined([known, *(part.blocks for part in parts)]),
    )
    lengths, score = [part.lengths for part in parts], np.concatenate([part.scores for part in parts])
    tag, another = _tags_of(parts)
    reordered = sum(part.reordered for part in parts)
    del parts  # as large as what they were joined to
    ids, fits = all_ids.piece(slice(len(known), None)), tuple[str, ...]()
    if fits_ids:
        stretches, ids, fits = _fitted(stretches, ids, judged, blocks)
        all_ids = Ids.joined([known, ids])
    named, stretch = _queries_of(stretches, judged.queries)
    if (stretch < 0).all():
        raise InputError(name_of(path), None, "", "", _unrelated_words(judged.queries, named))
    query = _spread(stretch, lengths)
    marks = _pair_marks(query, ids, len(judged.queries))
    _refuse_doubles(path, read_run_rows, query, ids, judged.queries, marks)
    ranked = Ranked(query, _numbers(judged, blocks, query, ids, marks, len(known)), score)
    if named:
        is_judged = query >= 0
        ranked = Ranked(query[is_judged], ranked.block[is_judged], score[is_judged])
    return RunFile(name_of(path), tag, ranked, all_ids, named, another, fits, reordered)


def _run_parts(path: str | Path, errors: ErrorList) -> Iterator[RunPart]:
    start, chunks = _opened(path)
    table = columns_of(start[:HEADING_BYTES])
    if table is None:
        yield from read_run_parts(path, errors, chunks)
        return
    name = name_of(path)
    rows = [row for _, row in rows_of(_table(chunks, name), *table, errors, tag=tag_of_name(name))]
    if rows:
        yield part_of(rows)


def _tags_of(parts: Sequence[RunPart]) -> tuple[str, str]:
    """The tag of the first row, and the first other one; "" where there is none."""
    tag = parts[0].tag
    others = (other for part in parts for other in (part.tag, part.another) if other not in {tag, ""})
    return tag, next(others, "")


def _numbers(judged: Judged, blocks: Vocabulary | None, query: Ints, ids: Ids, marks: Words, first: int) -> Ints:
    """The number of the block of each row; unknown ones have `first` and the following numbers, by their row.

    `marks` are the hashes of the pairs.
    """
    numbers = np.empty(len(ids), dtype=np.int64)
    for start in range(0, len(ids), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        piece = ids.piece(rows)
        known = _judged_rows(judged, query[rows], piece, marks[rows]) if blocks is None else blocks.known(piece)
        numbers[rows] = np.where(known < 0, np.arange(first + start, first + start + len(piece)), known)
    return numbers


def _fitted(queries: Ids, ids: Ids, judged: Judged, blocks: Vocabulary | None) -> tuple[Ids, Ids, tuple[str, ...]]:
    """Both columns with ids that nearly fit read as the judged ones, and a sentence for each rule."""
    known = _own_ids(judged) if blocks is None else blocks.ids.take(np.unique(judged.block))
    queries, query_fit = fitted(queries, judged.queries)
    ids, block_fit = fitted(ids, dict.fromkeys(one.decode() for one in known))
    found = ((query_fit, "queries"), (block_fit, "blocks"))
    return queries, ids, tuple(fit_words(fit, noun) for fit, noun in found if fit)


def _unrelated_words(judged: Sequence[str], named: Sequence[str]) -> str:
    """Why a run without any judged query is refused, with an id of each side: similar ones if any are."""
    if proposal := fit_of(judged, named):
        return f"answers none of the judged queries. {fit_words(proposal, 'queries')} {ADVICE}"
    one, other = similar_pair(judged, named) or (judged[0], named[0])
    message = f"answers none of the judged queries. Judged is '{one}', the run has '{other}'"
    return f"{message}: ids must agree letter by letter."


def _queries_of(stretches: Ids, queries: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The queries that were not judged, by name, and the number of the query of each stretch, -1 for those."""
    judged = Vocabulary()
    judged.numbers_of(queries)
    numbers = judged.known(stretches)
    unjudged = {query_id.decode() for query_id in stretches.take(np.flatnonzero(numbers < 0))}
    return tuple(sorted(unjudged)), numbers


def _own_ids(judged: Judged) -> Ids:
    if judged.ids is None:
        raise ValueError("These judgements were read with a vocabulary: name it.")
    return judged.ids


def _judged_rows(judged: Judged, query: Ints, ids: Ids, marks: Words) -> Ints:
    """The row of the judgement of each pair, -1 where there is none."""
    own = _own_ids(judged)

    def same(rows: Ints, requested: Ints) -> Bools:
        return (judged.query[rows] == query[requested]) & own.take(rows).same_as(ids.take(requested))

    if "pairs by mark" not in judged.cached:
        judged.cached["pairs by mark"] = MarkIndex.of(_pair_marks(judged.query, own, len(judged.queries)))
    index: MarkIndex = judged.cached["pairs by mark"]
    return index.find(marks, same)


def _pair_marks(query: Ints, ids: Ids, queries: int) -> Words:
    """A hash of each pair: the same for the same pair, seldom the same for two others, and ascending with the query.

    Rows of a query are adjacent in files, so consecutive lookups are close together in memory.
    """
    marks, share = np.empty(len(ids), dtype=np.uint64), np.uint64(max(queries, 1))
    for start in range(0, len(ids), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        marks[rows] = query[rows].view(np.uint64) * (np.uint64(MOST) // share) + ids.piece(rows).marks // share
    return marks


def _spread(values: Ints, lengths: Sequence[Ints]) -> Ints:
    """Each value repeated by the length of its stretch."""
    return np.repeat(values, np.concatenate([_no_ints(), *lengths]))


def _no_ints() -> Ints:
    return np.empty(0, dtype=np.int64)


def _whole(
    path: str | Path, read: Callable[[str | Path, ErrorList], Iterator[Read]], guess: Guess = no_guess
) -> list[Read]:
    """All parts that a reader yields.

    Raises InputErrors with the first errors of the file and the number of the others, and one InputError for a file of
    another kind, as far as `guess` can detect it.
    """
    errors, rows = ErrorList(MOST_LISTED), []
    try:
        rows = list(read(path, errors))
    except InputError as fault:
        errors.add(fault)
    if errors:
        raise_all(path, errors, guess, has_rows=bool(rows))
    return rows


def _refuse_doubles(
    path: str | Path, read: Reader, query: Ints, ids: Ids, queries: Sequence[str], marks: Words
) -> None:
    """Raises InputErrors where a block appears twice for a judged query; `marks` are the hashes of the pairs."""
    alike = _alike(marks, query)
    if not len(alike):
        return
    seen, errors = set(), ErrorList(MOST_LISTED)
    for row in np.flatnonzero(np.isin(marks, alike) & (query >= 0)).tolist():
        pair = query_id, block_id = queries[int(query[row])], ids[row].decode()
        if pair in seen:
            message = f"'{block_id}' appears twice for query '{query_id}'."
            errors.add(InputError(name_of(path), None, "block", block_id, message))
        seen.add(pair)
    if not errors:
        return
    if str(path) != "-":
        _whole(path, read)  # the reader of single lines finds which
    raise all_of(errors)


def _alike(marks: Words, query: Ints) -> Words:
    """The marks that more than one row has; piece by piece where the rows of each query are adjacent."""
    firsts = np.append(0, np.flatnonzero(query[1:] != query[:-1]) + 1)[: len(query)]
    is_adjacent = np.bincount(query[firsts] + 1, minlength=1).max() <= 1
    cuts = np.arange(ROWS_AT_ONCE, len(query), ROWS_AT_ONCE) if is_adjacent else firsts[:0]
    bounds = np.append(firsts, len(query))[np.searchsorted(firsts, cuts)]
    found = [marks[:0]]
    for start, end in pairwise(sorted({0, *bounds.tolist(), len(query)})):
        in_order = np.sort(marks[start:end])
        found.append(in_order[1:][in_order[1:] == in_order[:-1]])
    return np.concatenate(found)


def missing_of(judged: Judged, ranked: Ranked) -> tuple[str, ...]:
    """The judged queries for which a run has no row."""
    rows = np.bincount(ranked.query, minlength=len(judged.queries))
    return tuple(judged.queries[number] for number in np.flatnonzero(rows == 0).tolist())
