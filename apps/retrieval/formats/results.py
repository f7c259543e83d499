"""Runs of systems that return passages of their own: JSON lines, or a table with the same columns."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, fault
from apps.common.files.jsonvalues import refuse_unstorable
from apps.common.files.tabular import TableFile
from apps.metrics.files.result_checks import FactsOf, checked
from apps.metrics.files.results import ResultRow, best_first, read_results, rows_from
from apps.metrics.files.run_tables import tag_of_name
from apps.metrics.statistics.usage import Usage
from apps.retrieval.core.ranking import as_stored
from apps.retrieval.enums import Returns
from apps.retrieval.formats.runs import NO_TEXTS, Collector, QueryRanking, RunDraft, Texts

MOST_LETTERS = 300_000_000
Known = Callable[[ErrorList, Usage], Iterable[tuple[int, ResultRow]]]


def draft_from_results(
    source: TableFile,
    progress: Callable[[int], object],
    *,
    queries: Mapping[str, int],
    texts: Texts = NO_TEXTS,
    facts_of: FactsOf | None = None,
) -> RunDraft:
    """A draft from a file that `are_results`; `queries` gives keys by id. Mistakes are in its errors, as in a run's.

    `facts_of` says what the corpus has of what the file names; without it nothing is compared with the corpus.
    """
    return _collected(
        source.name, lambda errors, usage: read_results(source, errors, usage), progress, queries, texts, facts_of
    )


def draft_from_objects(
    objects: Iterable[Any],
    tag: str,
    name: str,
    *,
    queries: Mapping[str, int],
    texts: Texts = NO_TEXTS,
    facts_of: FactsOf | None = None,
) -> RunDraft:
    """The same from objects that a client pushes. Errors name them `name` and count them from 1."""

    def read(errors: ErrorList, usage: Usage) -> Iterator[tuple[int, ResultRow]]:
        return rows_from(_objects(objects, name, errors), name, errors, usage)

    return _collected(name, read, lambda rows: None, queries, texts, facts_of, tag=tag)


def _objects(objects: Iterable[Any], name: str, errors: ErrorList) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, one in enumerate(objects, 1):
        try:
            refuse_unstorable(one)
        except ValueError as error:
            errors.add(fault(name, line, "", "", f"{error}."))
            continue
        if isinstance(one, dict):
            yield line, one
        else:
            errors.add(fault(name, line, "", json.dumps(one), "a result is an object with qid and rank."))


def _collected(
    name: str,
    read: Known,
    progress: Callable[[int], object],
    queries: Mapping[str, int],
    texts: Texts,
    facts_of: FactsOf | None,
    *,
    tag: str = "",
) -> RunDraft:
    collector, found = Collector(name, queries, texts), list[tuple[int, ResultRow]]()
    letters, usage = 0, Usage()
    try:
        for line, row in read(collector.errors, usage):
            collector.line = line
            collector.rows += 1
            first, last = row.returned.span or (0, 0)
            letters += max(len(row.returned.text), last - first)
            if letters > MOST_LETTERS:
                message = f"the texts have more than {MOST_LETTERS:,} letters in all; return fewer for each question."
                raise fault(name, collector.line, "text", "", message)
            if outside_id := collector.find(row.qid, "qid"):
                found.append((line, row._replace(qid=outside_id)))
            progress(collector.rows)
    except InputError as error:
        collector.errors.add(error)
    if not collector.rows and not collector.errors:
        collector.errors.add(fault(name, None, "", "", "the file contains no results."))
    if facts_of is not None:
        found = checked(found, name, facts_of, collector.errors)
    collector.errors.sort()
    ranked = best_first(row for _, row in found)
    return RunDraft(
        rankings=[QueryRanking(queries[one], one, passages=as_stored(top)) for one, top in ranked.items()],
        tags=[tag or tag_of_name(name)],
        rows=collector.rows,
        unknown_queries=collector.unknown_queries,
        unknown_blocks={},
        errors=collector.errors,
        ties=0,
        reordered=0,
        is_spoilt=collector.is_spoilt,
        by_text=collector.by_text,
        returns=Returns.PASSAGES,
        usage=usage,
    )
