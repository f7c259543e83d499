"""The scorecard of runs measured on triples (`karat score --triples`), and the files that it reads."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from apps.cli.score.scoring import TripleGround, weighted_card
from apps.common.errors import InputError
from apps.common.files.anytable import in_utf8
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of
from apps.common.files.linefiles import name_of
from apps.common.files.tabular import TableFile, read_jsonl
from apps.common.text.wording import plural
from apps.evaluation.core.question_kinds import KIND, kinds_of_answer
from apps.metrics.expected.measures import DEFAULT_HIT_MEASURES, refuse_without_hits
from apps.metrics.expected.rules import (
    BLOCK,
    TEXT,
    ExpectedBlock,
    HitRule,
    HitRuleError,
    Question,
    Returned,
    parse_hit_rule,
)
from apps.metrics.files.attributes import load_strata
from apps.metrics.files.input_digests import Digests
from apps.metrics.files.result_checks import checked, facts_among
from apps.metrics.files.result_tables import are_results
from apps.metrics.files.results import best_first, read_results
from apps.metrics.files.run_tables import HEADING_BYTES, run_rows
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import named_measures
from apps.metrics.scorecard import Scorecard, ScoredRun, with_distinct_tags
from apps.metrics.statistics.strata import Division
from apps.triples.formats import read_entries
from apps.triples.formats.entry import ALL, Entry

Names = Mapping[str, list[str]]


class Answers(NamedTuple):
    """The passages for each question by its id, best first.

    `by_name` has them under the names of the file, `unknown` are the names that no triple has.
    """

    tag: str
    returned: dict[str, list[Returned]]
    unknown: list[str]
    by_name: dict[str, list[Returned]]


def returned_by_run(source: TableFile, names: Names, blocks: Mapping[str, Returned]) -> Answers:
    """The blocks of a run, TREC's or a table: score descending, ties by id descending.

    Raises InputErrors with every bad line.
    """
    errors = ErrorList(MOST_LISTED)
    scored: dict[str, list[tuple[float, bytes, str]]] = {}
    tag = ""
    for row in run_rows(source, errors):
        tag = tag or row.tag
        scored.setdefault(row.query_id, []).append((row.score, row.block_id.encode(), row.block_id))
    _raise(errors)
    ranked = {
        query: [blocks.get(block, Returned(block)) for _, _, block in sorted(rows, reverse=True)]
        for query, rows in scored.items()
    }
    return _answers(tag or _stem(source.name), ranked, names)


def returned_by_results(
    source: TableFile, names: Names, blocks: Mapping[str, Returned], *, knows_documents: bool = False
) -> Answers:
    """The passages of a file of results, best first; of our ids the corpus tells what the file does not.

    With `knows_documents` a document that the corpus has not is remarked on. Raises InputErrors with every bad line.
    """
    errors = ErrorList(MOST_LISTED)
    rows = list(read_results(source, errors))
    if blocks:
        facts = facts_among(blocks)
        if knows_documents and facts.are_all:
            _remark_on_documents(source.name, [row.returned.document_id for _, row in rows], facts.documents)
        rows = checked(rows, source.name, lambda *_: facts._replace(are_all=False), errors)
    _raise(errors)
    ranked = best_first(row._replace(returned=with_facts(row.returned, blocks)) for _, row in rows)
    return _answers(_stem(source.name), ranked, names)


def _remark_on_documents(name: str, documents: Sequence[str], known: Mapping[str, str]) -> None:
    """Say on standard error how many results name a document that the corpus has not."""
    strangers = [one for one in documents if one and one not in known]
    if strangers:
        names = "names" if len(strangers) == 1 else "name"
        counted = plural(len(strangers), "result")
        print(f"{name}: {counted} {names} a document that the corpus has not: {strangers[0]}.", file=sys.stderr)


def with_facts(told: Returned, blocks: Mapping[str, Returned]) -> Returned:
    """The passage with what the corpus knows of our id, where the system does not tell it."""
    known = blocks.get(told.id)
    if known is None:
        return told
    return told._replace(
        document_id=told.document_id or known.document_id, pages=told.pages or known.pages, text=told.text or known.text
    )


def block_facts(path: str) -> dict[str, Returned]:
    """Each block of an exported corpus.jsonl by its id. Raises InputErrors with every bad line."""
    try:
        with Path(path).open("rb") as stream:
            return facts_in(TableFile(Path(path).name, stream))
    except OSError as error:
        raise InputError(path, None, "", "", f"cannot be read: {error.strerror}.") from error


NO_BLOCK = "a block needs a text, and a block_id that is a text as well, in quotes."


def facts_in(source: TableFile) -> dict[str, Returned]:
    """As `block_facts`, of an open file."""
    errors = ErrorList(MOST_LISTED)
    blocks: dict[str, Returned] = {}
    for line, values in read_jsonl(source, errors):
        block = _block(values)
        if block is None:
            errors.add(source.error(line, "block_id", values.get("block_id"), NO_BLOCK))
        elif blocks.setdefault(block.id, block) is not block:
            errors.add(source.error(line, "block_id", block.id, "an earlier line has this block_id already."))
    _raise(errors)
    return blocks


def _block(values: dict[str, Any]) -> Returned | None:
    block, text = values.get("block_id"), values.get("text")
    if not isinstance(block, str) or not block or not isinstance(text, str):
        return None
    first, last = values.get("page_start"), values.get("page_end")
    ends = [end for end in (first, last) if isinstance(end, int)]
    document = values.get("document_id")
    return Returned(block, document if isinstance(document, str) else "", (ends[0], ends[-1]) if ends else None, text)


def _answers(tag: str, ranked: dict[str, list[Returned]], names: Names) -> Answers:
    return Answers(tag, by_question(ranked, names), sorted(ranked.keys() - names.keys()), ranked)


def by_question(ranked: Mapping[str, list[Returned]], names: Names) -> dict[str, list[Returned]]:
    """The passages by the id of each question, from those by the names that a run gives questions."""
    return {one: passages for name, passages in ranked.items() for one in names.get(name, ())}


def _raise(errors: ErrorList) -> None:
    if errors:
        raise all_of(errors)


def _stem(name: str) -> str:
    return Path(name.removesuffix(".gz")).stem or "results"


DIVISIONS = ("domain", "difficulty", "source")


class TripleFile(NamedTuple):
    """The questions of a file of triples, and how their metadata divide them."""

    questions: list[Question]
    divisions: tuple[Division, ...]


def load_triples(path: str) -> TripleFile:
    """The triples of a JSONL or YAML file, as exported or as published. Raises InputErrors with every bad line."""
    with opened(path) as source:
        entries = entries_in(source)
    if not entries:
        raise InputError(name_of(path), None, "", "", "the file contains no triples.")
    labels = {field: tuple(getattr(entry, field) for entry in entries) for field in DIVISIONS}
    divisions = [Division(field, named) for field, named in labels.items() if len(set(named) - {""}) > 1]
    return TripleFile(
        [question_of(entry) for entry in entries], (*divisions, *kind_divisions([kinds_in(entry) for entry in entries]))
    )


def kinds_in(entry: Entry) -> list[str]:
    """The kinds of an entry's question: numeric, compound, once disputed, written by machine."""
    return kinds_of_answer(
        entry.expected_answer,
        needs_all=entry.match == ALL,
        resolution=entry.resolution,
        is_machine_written=entry.is_machine_written,
    )


def kind_divisions(kinds: Sequence[Sequence[str]]) -> list[Division]:
    """One division for each kind that some of the questions are of and others are not: a question can be of several."""
    names = dict.fromkeys(name for row in kinds for name in row)
    divided = {name: tuple(name if name in row else "" for row in kinds) for name in names}
    return [Division(KIND, labels) for labels in divided.values() if "" in labels]


def entries_in(source: TableFile) -> list[Entry]:
    """The entries of a file, each with an id: its own, else its query's, else its line.

    Raises InputErrors with every bad line, and where two have the same id.
    """
    errors = ErrorList(MOST_LISTED)
    entries: list[Entry] = []
    form = "yaml" if source.name.removesuffix(".gz").endswith((".yaml", ".yml")) else "jsonl"
    for place, (record, entry) in enumerate(read_entries(source, errors, format=form), 1):
        entries.append(entry if entry.id else entry._replace(id=entry.query_id or f"line {record.line or place}"))
    seen: set[str] = set()
    for entry in entries:
        if entry.id in seen:
            errors.add(InputError(source.name, None, "id", entry.id, "two triples have this id."))
        seen.add(entry.id)
    if errors:
        raise all_of(errors)
    return entries


def question_of(entry: Entry) -> Question:
    blocks = tuple(
        ExpectedBlock(one.block_id, one.document_id, one.pages, tuple(evidence.text for evidence in one.evidence))
        for one in entry.blocks
    )
    return Question(entry.id, blocks, entry.match == ALL, entry.query_id)


def with_texts(questions: Sequence[Question], blocks: Mapping[str, Returned]) -> list[Question]:
    """The questions with what the corpus knows of their blocks where the file of triples does not say it."""
    return [
        one._replace(expected=tuple(_filled(block, blocks.get(block.block_id)) for block in one.expected))
        for one in questions
    ]


def _filled(block: ExpectedBlock, known: Returned | None) -> ExpectedBlock:
    if known is None:
        return block
    evidence = block.evidence or ((known.text,) if known.text else ())
    return ExpectedBlock(block.block_id, block.document_id or known.document_id, block.pages or known.pages, evidence)


def names_of(questions: Sequence[Question]) -> dict[str, list[str]]:
    """The ids of the questions by each name that a run may give them: their own, and that of their query."""
    names: dict[str, list[str]] = {}
    for one in questions:
        for name in dict.fromkeys(filter(None, (one.id, one.query_id))):
            names.setdefault(name, []).append(one.id)
    return names


@contextmanager
def opened(path: str) -> Iterator[TableFile]:
    """The file at this path, `-` being standard input. Raises InputError where it cannot be read."""
    if path == "-":
        yield in_utf8(TableFile(name_of(path), io.BytesIO(sys.stdin.buffer.read())))
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise InputError(path, None, "", "", f"cannot be read: {error.strerror}.") from error
        yield in_utf8(TableFile(name_of(path), stream))


WITHOUT_CORPUS = "Name the passages with --corpus corpus.jsonl, or measure with --hit block."


def scorecard_of_triples(args: argparse.Namespace) -> Scorecard:
    """Read the files and measure the runs on the triples.

    Raises InputError and InputErrors for a file, and MeasureError for options that contradict each other.
    """
    rule = hit_rule(args.hit or BLOCK)
    if rule.kind == TEXT:
        raise MeasureError("text is by grades, not on Q&As: score it with --qrels and --corpus.")
    measures = named_measures(args.measures or DEFAULT_HIT_MEASURES)
    refuse_without_hits(measures.values())
    paths = _paths(args)
    with Digests(_files(args, paths) if args.html or args.markdown else ()) as digests:
        triples = load_triples(args.triples)
        blocks = block_facts(args.corpus) if args.corpus else {}
        triples = triples._replace(questions=with_texts(triples.questions, blocks))
        ground, names = TripleGround(triples.questions, rule, measures), names_of(triples.questions)
        runs = [
            _scored(path, ground, _read(path, is_run=is_run, names=names, blocks=blocks), args)
            for path, is_run in paths
        ]
    divisions = load_strata(args.by, ground.asked).divisions if args.by else ground.divided(triples.divisions)
    card = ground.card(runs, confidence=args.confidence, seed=args.seed)
    card = card._replace(
        runs=with_distinct_tags(card.runs, [path for path, _ in paths]),
        with_intervals=args.with_intervals,
        with_queries=args.per_query,
        inputs=list(digests.taken()),
    ).by_strata(divisions)
    return weighted_card(card.compared() if args.compare else card, args.weights)


def hit_rule(text: str) -> HitRule:
    """The rule of the option --hit. Raises MeasureError."""
    try:
        return parse_hit_rule(text)
    except HitRuleError as error:
        raise MeasureError(str(error)) from error


def baseline_first(args: argparse.Namespace) -> list[tuple[str, bool]]:
    """The runs and results in the order of the output, the baseline first, each with whether it is a TREC run.

    Raises MeasureError where the baseline is alone.
    """
    paths = [*((path, True) for path in args.runs or ()), *((path, False) for path in args.results or ())]
    if args.compare:
        first = next((one for one in paths if one[0] == args.compare), (args.compare, not is_results(args.compare)))
        paths = [first, *(one for one in paths if one != first)]
        if len(paths) == 1:
            raise MeasureError("--compare names the baseline; name another run with --run or --results.")
    return paths


def _paths(args: argparse.Namespace) -> list[tuple[str, bool]]:
    """The same, and what a run on triples cannot be asked is refused."""
    paths = baseline_first(args)
    if args.bounds:
        raise MeasureError("--bounds goes with --qrels: what is not expected is not unjudged.")
    if not paths:
        raise MeasureError("Name a run with --run RUN, or the passages that a system returned with --results RESULTS.")
    if args.hit not in (None, BLOCK) and any(is_run for _, is_run in paths) and not args.corpus:
        raise MeasureError(f"--hit {args.hit} reads more of a passage than the ids of a run. {WITHOUT_CORPUS}")
    if [args.triples, args.corpus, args.by, args.weights, *(path for path, _ in paths)].count("-") > 1:
        raise MeasureError("Only one file can be standard input.")
    return paths


def is_results(path: str) -> bool:
    """Whether a file has returned passages, by its name or its beginning; else it is a run."""
    is_named = Path(path.removesuffix(".gz")).suffix == ".jsonl"
    if path == "-":
        return False
    with suppress(InputError, OSError), opened(path) as source:
        start = source.head(HEADING_BYTES)
        return are_results(source, start) if start else is_named
    return is_named


def _files(args: argparse.Namespace, paths: Sequence[tuple[str, bool]]) -> list[tuple[str, str]]:
    files = [("triples", args.triples)]
    files += [("baseline" if path == args.compare else "run" if is_run else "results", path) for path, is_run in paths]
    files += [("passages", args.corpus), ("strata", args.by), ("weights", args.weights)]
    return [(role, path) for role, path in files if path]


def _scored(
    path: str,
    ground: TripleGround,
    answers: Answers,
    args: argparse.Namespace,
) -> tuple[ScoredRun, int]:
    """One run, and how many of its passages the rule cannot read."""
    if answers.unknown:
        some = ", ".join(answers.unknown[:3])
        print(f"{name_of(path)}: {len(answers.unknown):,} of its questions are of no triple: {some}.", file=sys.stderr)
    return ground.measured(answers.tag, answers.returned, confidence=args.confidence, with_interval=args.with_intervals)


def _read(path: str, *, is_run: bool, names: Names, blocks: Mapping[str, Returned]) -> Answers:
    read = returned_by_run if is_run else returned_by_results
    with opened(path) as source:
        return read(source, names, blocks)
