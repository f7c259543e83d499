"""Runs measured by text: returned passages are located in the corpus, and earn the grades of what they cover.

`CorpusTexts` is for whoever has the blocks and the judgements; `scorecard_by_text` is `karat score --qrels` of results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np

from apps.cli.score.scoring import ScoringGround, card_by_grades, ground_of, weighted_card
from apps.cli.score.triples import baseline_first, facts_in, hit_rule, opened, returned_by_results
from apps.common.errors import InputError
from apps.common.files.linefiles import name_of
from apps.common.text.wording import beginning
from apps.metrics.by_text.coverage import Evidence, ReturnedTexts, covering
from apps.metrics.by_text.index import IndexedBlock, Located, index_of
from apps.metrics.columns import BlockIds, Covering, Ints, Judged, Ranked, in_rank_order
from apps.metrics.expected.rules import TEXT, HitRule, Returned
from apps.metrics.files.input_digests import Digests
from apps.metrics.files.reading import load_run
from apps.metrics.files.run_warnings import depth_words, remarks_on_file
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import BY_TEXT, DEFAULT_TEXT_MEASURES, NEED_WORDS, measure_run
from apps.metrics.scorecard import ByText, LostPassage, Scorecard, ScoredRun, with_distinct_tags
from apps.metrics.scoring import score_run
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, mean_of
from apps.metrics.vocabulary import Vocabulary

SHARES = (0.5, 0.8, 1.0)
"""At these the first measure is told, so that one sees how much hangs on the share."""

MOST_LISTED = 5
MOST_LETTERS = 60
NO_CORPUS = "By text, returned passages are located in the corpus. Name it with --corpus corpus.jsonl."
ANOTHER_CORPUS = "the corpus has none of the relevant passages of the judgements. Name the corpus that was judged."
NOTHING_COVERED = "no passage in the first ten covers a judged passage; check that the corpus is the one it searches."
Returns = Mapping[str, Sequence[Returned]]
"""The passages that were returned for each query by its id, best first."""


class LocatedRun(NamedTuple):
    """The passages of one run, each with the number of its text, and where these are in the corpus."""

    texts: Sequence[str]
    returned: ReturnedTexts
    located: Located
    corpus: CorpusTexts

    def covering(self, share: float, evidence: Evidence | None = None) -> Covering:
        corpus = self.corpus
        queries = len(corpus.judged.queries)
        return covering(self.returned, self.located, corpus.sizes, queries, share=share, evidence=evidence)

    def told(self, measure: Measure, evidence: Evidence | None = None) -> ByText:
        """What is said of the run beside its figures."""
        covered = self.covering(1.0)
        by_share = {}
        for share in SHARES:
            found = self.covering(share, evidence)
            values = measure_run([measure], self.corpus.judged, found, self.corpus.ids)[:, 0]
            by_share[share] = mean_of(values[~np.isnan(values)])
        return ByText(
            returned=len(self.returned.query),
            lost=len(covered.lost_query),
            listed=self._listed(covered),
            by_share=by_share,
            textless=sum(not self.texts[text] for text in self.returned.text.tolist()),
            absent=self.corpus.absent,
            depth=int(covered.returned.max(initial=0)),
        )

    def _listed(self, covered: Covering) -> tuple[LostPassage, ...]:
        """The first passages that have a text and are not located, one of each text."""
        lost = set(zip(covered.lost_query.tolist(), covered.lost_rank.tolist(), strict=True))
        columns = zip(*(column.tolist() for column in self.returned), strict=True)
        texts: dict[int, LostPassage] = {}
        for query, rank, text in columns:
            if (query, rank) in lost and self.texts[text] and len(texts) < MOST_LISTED:
                shown = beginning(self.texts[text], MOST_LETTERS)
                texts.setdefault(text, LostPassage(self.corpus.judged.queries[query], rank + 1, shown))
        return tuple(texts.values())


class CorpusTexts:
    """A corpus in which passages are located. `numbers` has the blocks of the judgements, and gets all others."""

    def __init__(self, blocks: Mapping[str, Returned], numbers: Vocabulary, judged: Judged) -> None:
        self.judged = judged
        self.known = numbers.numbers_of(list(blocks))
        self.ids: BlockIds = numbers.ids
        documents: dict[str, int] = {}
        rows = sorted(zip(self.known.tolist(), blocks.values(), strict=True), key=_page)
        self.index = index_of(
            IndexedBlock(number, documents.setdefault(block.document_id, len(documents)), block.text)
            for number, block in rows
        )
        self.sizes = self.index.block_sizes

    @cached_property
    def absent(self) -> int:
        """How many graded blocks the corpus does not have."""
        return len(np.setdiff1d(self._graded, self.known))

    @property
    def _graded(self) -> Ints:
        return self.judged.block[self.judged.grade > 0]

    @property
    def is_another(self) -> bool:
        """Whether there are graded blocks, and the corpus has none of them."""
        return len(self._graded) > 0 and not np.isin(self._graded, self.known).any()

    def located(self, returned: Returns) -> LocatedRun:
        """Where the passages for the judged queries are; each text is located once."""
        numbers: dict[str, int] = {}
        rows = [
            (place, rank, numbers.setdefault(passage.text, len(numbers)))
            for place, query in enumerate(self.judged.queries)
            for rank, passage in enumerate(returned.get(query, ()))
        ]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
        texts = list(numbers)
        return LocatedRun(texts, ReturnedTexts(*columns.T), self.index.locate(texts), self)


def _page(row: tuple[int, Returned]) -> float:
    """The first page of a block, after all others where it has none: in a document, lines are in the order of pages."""
    pages = row[1].pages
    return pages[0] if pages else float("inf")


def refuse_by_text(measures: Sequence[Measure]) -> None:
    """Raises MeasureError for a measure that needs more than grades and words."""
    for measure in measures:
        if needs := sorted(measure.entry.needs - BY_TEXT):
            raise MeasureError(f"{measure} cannot be measured by text: it needs {NEED_WORDS[needs[0]]}.")


def scorecard_by_text(args: argparse.Namespace) -> Scorecard:
    """Read the files and score them by text.

    Raises InputError and InputErrors for a file, and MeasureError for options that contradict each other.
    """
    rule = hit_rule(args.hit or TEXT)
    args.measures = args.measures or DEFAULT_TEXT_MEASURES
    paths = _paths(args)
    with Digests(_files(args, paths) if args.html or args.markdown else ()) as digests:
        numbers = Vocabulary()
        ground = ground_of(args, numbers)
        refuse_by_text(list(ground.measures.values()))
        with opened(args.corpus) as source:
            blocks = facts_in(source)
        if not blocks:
            raise InputError(name_of(args.corpus), None, "", "", "contains no passages.")
        files = _Files(ground.judged, numbers, blocks, fits_ids=args.fit_ids)
        corpus = CorpusTexts(blocks, numbers, ground.judged)
        if corpus.is_another:
            raise InputError(name_of(args.corpus), None, "block_id", next(iter(blocks)), ANOTHER_CORPUS)
        runs = [_scored(*files.read(path, is_run=is_run), rule, ground, corpus, args) for path, is_run in paths]
    runs = with_distinct_tags(runs, [path for path, _ in paths])
    card = card_by_grades(ground, runs, args, list(digests.taken()))._replace(hit=rule)
    return weighted_card(card, args.weights)


def _paths(args: argparse.Namespace) -> list[tuple[str, bool]]:
    """The files in the order of the output, the baseline first, each with whether it is a run."""
    if not args.corpus:
        raise MeasureError(NO_CORPUS)
    for option in ("blocks", "query_attributes"):
        if getattr(args, option):
            raise MeasureError(f"--{option.replace('_', '-')} goes with runs of blocks: by text only grades are known.")
    if args.bounds:
        raise MeasureError("--bounds goes with runs of blocks: nobody knows how many blocks a passage could cover.")
    paths = baseline_first(args)
    if not paths:
        raise MeasureError("Name the passages that a system returned with --results, or a run with --run.")
    if args.fit_ids and not any(is_run for _, is_run in paths):
        raise MeasureError("--fit-ids goes with runs of blocks: results are located by their texts.")
    if args.unanswerable or args.abstains_below is not None:
        raise MeasureError("--unanswerable and --abstains-below go with runs scored by the ids of their blocks.")
    if [args.qrels, args.corpus, args.by, args.weights, *(path for path, _ in paths)].count("-") > 1:
        raise MeasureError("Only one file can be standard input.")
    return paths


def _files(args: argparse.Namespace, paths: Sequence[tuple[str, bool]]) -> list[tuple[str, str]]:
    """Every file that is read, with its role."""
    files = [("judgements", args.qrels), ("passages", args.corpus)]
    files += [("baseline" if path == args.compare else "run" if is_run else "results", path) for path, is_run in paths]
    files += [("strata", args.by), ("weights", args.weights)]
    return [(role, path) for role, path in files if path]


class _Files:
    """Reads what systems returned for the judged queries, and remarks on it."""

    def __init__(self, judged: Judged, numbers: Vocabulary, blocks: Mapping[str, Returned], *, fits_ids: bool) -> None:
        self.judged, self.numbers, self.blocks, self.fits_ids = judged, numbers, blocks, fits_ids

    def read(self, path: str, *, is_run: bool) -> tuple[str, str, Returns]:
        """The name of the file, that of the run, and what was returned."""
        name = name_of(path)
        tag, returned, remarks = self._run(path) if is_run else self._results(path)
        for remark in remarks:
            print(f"{name}: {remark}", file=sys.stderr)
        return name, tag, returned

    def _results(self, path: str) -> tuple[str, Returns, list[str]]:
        with opened(path) as source:
            found = returned_by_results(source, {}, self.blocks, knows_documents=True)
        strangers = [query for query in found.by_name if query not in set(self.judged.queries)]
        return found.tag, found.by_name, strangers_words(name_of(path), found.by_name, strangers)

    def _run(self, path: str) -> tuple[str, Returns, list[str]]:
        """A run of blocks: the text of each is what was returned."""
        file = load_run(path, self.judged, self.numbers, fits_ids=self.fits_ids)
        returned = blocks_of_run(file.ranked, file.ids, self.judged, self.blocks)
        missing = tuple(query for query in self.judged.queries if query not in returned)
        return file.tag, returned, list(remarks_on_file(file, self.judged, missing))


def strangers_words(name: str, answered: Returns, strangers: Sequence[str]) -> list[str]:
    """How many queries of a file were never judged, as a sentence. Raises InputError where it has no others."""
    if not answered:
        raise InputError(name, None, "", "", "contains no results.")
    some = ", ".join(strangers[:3])
    if len(strangers) == len(answered):
        raise InputError(name, None, "qid", strangers[0], f"answers none of the judged queries, but others: {some}.")
    was = "was" if len(strangers) == 1 else "were"
    return [f"{len(strangers):,} of its questions {was} never judged: {some}."] if strangers else []


def blocks_of_run(ranked: Ranked, ids: BlockIds, judged: Judged, blocks: Mapping[str, Returned]) -> Returns:
    """The blocks of a run with their texts, best first, as if a system had returned these."""
    ordered = in_rank_order(ranked, ids)
    returned: dict[str, list[Returned]] = {}
    for query, block in zip(ordered.query.tolist(), ordered.block.tolist(), strict=True):
        name = bytes(ids[block]).decode()
        returned.setdefault(judged.queries[query], []).append(blocks.get(name, Returned(name)))
    return returned


def _scored(
    name: str,
    tag: str,
    returned: Returns,
    rule: HitRule,
    ground: ScoringGround,
    corpus: CorpusTexts,
    args: argparse.Namespace,
) -> ScoredRun:
    run = scored_by_text(
        tag,
        corpus.located(returned),
        ground.measures,
        rule.share,
        confidence=args.confidence,
        with_intervals=args.with_intervals,
        strata=ground.within,
        rel=args.rel_level,
    )
    for remark in remarks_by_text(run, ground.measures):
        print(f"{name}: {remark}", file=sys.stderr)
    return run


def remarks_by_text(run: ScoredRun, measures: Mapping[str, Measure], *, with_depth: bool = True) -> Iterator[str]:
    """Warnings that limit what the figures of a run mean."""
    if run.scores.judged_at_10 == 0:
        yield NOTHING_COVERED
    if with_depth and run.by_text:
        yield from depth_words(measures, run.by_text.depth)


def scored_by_text(
    tag: str,
    run: LocatedRun,
    measures: Mapping[str, Measure],
    share: float,
    *,
    evidence: Evidence | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    with_intervals: bool = True,
    strata: Ints | None = None,
    rel: int = 1,
) -> ScoredRun:
    """The scores of a run by text, with what is said beside them."""
    corpus, covered = run.corpus, run.covering(share, evidence)
    listed = list(measures.values())
    scores = score_run(
        listed,
        corpus.judged,
        covered,
        corpus.ids,
        confidence=confidence,
        with_intervals=with_intervals,
        strata=strata,
        rel=rel,
    )
    missing = tuple(compress(corpus.judged.queries, covered.returned == 0))
    return ScoredRun(tag, scores, missing, by_text=run.told(listed[0], evidence))
