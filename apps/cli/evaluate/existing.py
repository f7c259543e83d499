"""Answers that exist already: a TREC run, or a file of results."""

from __future__ import annotations

import math
import sys

from apps.cli.evaluate.answers import answer_of
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.evaluate.scoring import Answered, fit_answers, from_answers
from apps.cli.score.triples import Answers, is_results, names_of, opened, returned_by_results, returned_by_run
from apps.common.errors import InputError
from apps.common.files.linefiles import name_of
from apps.metrics.columns import Judged
from apps.metrics.files.reading import load_run, missing_of
from apps.metrics.files.run_warnings import remarks_on_file
from apps.metrics.vocabulary import Vocabulary

STANDARD_INPUT = "-"
MOST_NAMED = 3
TWICE = "is read twice, for grades and for Q&As: name a file in place of standard input."


def from_file(
    path: str,
    release: ReleaseSplit,
    judged: Judged | None,
    blocks: Vocabulary,
    *,
    fits_ids: bool,
    name: str = "",
    has_results: bool = False,
) -> Answered:
    """The answers of a file, which `has_results` or says so itself; remarks on it go to standard error.

    Raises InputError and InputErrors.
    """
    read = _from_results if has_results or is_results(path) else _from_run
    answered = read(path, release, judged, blocks, fits_ids)
    return answered._replace(name=name or answered.name)


def _from_results(
    path: str, release: ReleaseSplit, judged: Judged | None, blocks: Vocabulary, fits_ids: bool
) -> Answered:
    with opened(path) as source:
        names, is_graded = names_of(release.questions), judged is not None
        found = returned_by_results(source, names, release.blocks, knows_documents=is_graded)
    _remark_on_strangers(path, found, release)
    answers, words = [answer_of(query, passages, math.nan) for query, passages in found.by_name.items()], ""
    if fits_ids:
        answers, words = fit_answers(answers, judged, release, blocks)
    if words:
        print(f"{name_of(path)}: {words}", file=sys.stderr)
    return from_answers(found.tag, answers, release, judged, blocks)._replace(latencies=None)


def _from_run(path: str, release: ReleaseSplit, judged: Judged | None, blocks: Vocabulary, fits_ids: bool) -> Answered:
    """By grades as `karat score --qrels` reads it; for the triples the blocks with what the corpus knows of them."""
    if not release.triples and judged is not None:
        return _graded(path, judged, blocks, fits_ids, release)
    if judged is not None and path == STANDARD_INPUT:
        raise InputError(name_of(path), None, "", "", TWICE)
    with opened(path) as source:
        found = returned_by_run(source, names_of(release.questions), release.blocks)
    if judged is not None and not found.by_name.keys().isdisjoint(judged.queries):
        return _graded(path, judged, blocks, fits_ids, release)._replace(returned=found.returned)
    _remark_on_strangers(path, found, release)
    return Answered(found.tag, None, blocks.ids, found.returned)


def _graded(path: str, judged: Judged, blocks: Vocabulary, fits_ids: bool, release: ReleaseSplit) -> Answered:
    file = load_run(path, judged, blocks, fits_ids=fits_ids)
    asked = {query.query_id for query in release.asked} | {question.id for question in release.questions}
    file = file._replace(unjudged=tuple(query for query in file.unjudged if query not in asked))
    for remark in remarks_on_file(file, judged, missing_of(judged, file.ranked)):
        print(f"{file.path}: {remark}", file=sys.stderr)
    return Answered(file.tag, file.ranked, file.ids)


def _remark_on_strangers(path: str, found: Answers, release: ReleaseSplit) -> None:
    """Say that a file is empty, and which of its questions the release does not have.

    Raises InputError where it has none of them.
    """
    if not found.by_name:
        print(f"{name_of(path)}: has no results, so that every question counts as missed.", file=sys.stderr)
    asked = {query.query_id for query in release.asked}
    strangers = [query for query in found.unknown if query not in asked]
    if not strangers:
        return
    some = ", ".join(strangers[:MOST_NAMED])
    if len(strangers) == len(found.by_name):
        raise InputError(name_of(path), None, "", "", f"answers none of the questions of {release.name}: {some}.")
    part = f"the {release.split} split of {release.name}" if release.split else release.name
    print(f"{name_of(path)}: {len(strangers):,} of its questions are not of {part}: {some}.", file=sys.stderr)
