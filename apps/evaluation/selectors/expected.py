"""What a version's triples ask and expect, in the form that runs are measured in, what a run returned, and its hits."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from apps.goldsets.models import Version, VersionTriple
from apps.metrics.columns import Floats
from apps.metrics.expected.hits import Hits, find_hits
from apps.metrics.expected.measures import measure_hits
from apps.metrics.expected.rules import EVIDENCE, ExpectedBlock, HitRule, Question, Returned
from apps.metrics.measures.entries import Measure
from apps.retrieval.models import Run
from apps.retrieval.selectors.runs import returned_of
from apps.retrieval.selectors.snapshots import positions_of
from apps.review.enums import VerdictChoice
from apps.review.models import Verdict
from apps.triples.models import ExpectedBlock as PinnedBlock
from apps.triples.selectors.triples import asked_queries


class ExpectedGround(NamedTuple):
    """The triples of one split of a version to measure against, by label.

    `asked` gives the labels that each query asks, by its key: one query can ask the questions of several triples.
    """

    triples: list[VersionTriple]
    questions: list[Question]
    asked: dict[int, list[str]]


def version_triples(version: Version, split: str) -> list[VersionTriple]:
    """The triples of one split of a version (empty: both) by label."""
    rows = VersionTriple.objects.filter(version=version)
    rows = rows.filter(split=split) if split else rows
    related = ("triple__source", "triple__query__source", "triple__imported")
    return sorted(rows.select_related(*related), key=lambda row: row.label.encode())


def flags_of(version: Version, rows: Collection[VersionTriple]) -> dict[int, set[str]]:
    """The categories of the flags that the triples got before the version was frozen, by key of the triple."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    flags = flags_before_freeze(version).filter(revision__triple__in=[row.triple_id for row in rows])
    for triple, category in flags.values_list("revision__triple", "category"):
        found[triple].add(category)
    return found


def flags_before_freeze(version: Version) -> QuerySet[Verdict]:
    """Those that name a category and stood when the version was frozen, on whichever triple."""
    flags = Verdict.objects.filter(choice=VerdictChoice.FLAG, superseded_by=None).exclude(category="")
    return flags.filter(given_at__lte=version.frozen_at)


def expected_of(version: Version, split: str, only: Collection[str] | None = None) -> ExpectedGround:
    """The triples of one split of a version, as questions with their expected blocks; with `only` those labels."""
    triples = [row for row in version_triples(version, split) if only is None or row.label in only]
    texts = _texts_without_evidence(triples)
    questions = [_question(row, texts) for row in triples]
    labels = {row.revision_id: row.label for row in triples}
    asked: defaultdict[int, list[str]] = defaultdict(list)
    for revision, query in asked_queries(labels).items():
        asked[query.query_id].append(labels[revision])
    return ExpectedGround(triples, questions, dict(asked))


def question_of(row: VersionTriple) -> Question:
    """One triple of a version as a question with its expected blocks."""
    return _question(row, _texts_without_evidence([row]))


def returned_for(run: Run, ground: ExpectedGround, rule: HitRule) -> dict[str, list[Returned]]:
    """What the run returned for each question, best first, by label. Texts are read for the rule on evidence alone."""
    found = returned_of(run, list(ground.asked), with_text=rule.kind == EVIDENCE)
    return {label: passages for query, passages in found for label in ground.asked[query]}


def _question(row: VersionTriple, texts: dict[tuple[int, str], str]) -> Question:
    blocks = tuple(_expected(row, block, texts) for block in row.content["blocks"])
    return Question(row.label, blocks, row.content["match"] == "all", row.content["query_id"])


def _expected(row: VersionTriple, block: dict[str, Any], texts: dict[tuple[int, str], str]) -> ExpectedBlock:
    first, last = block["page_start"], block["page_end"]
    ends = [end for end in (first, last) if end is not None]
    evidence = tuple(block["evidence"]) or (texts.get((row.revision_id, block["block_id"]), ""),)
    return ExpectedBlock(block["block_id"], block["document_id"], (ends[0], ends[-1]) if ends else None, evidence)


def _texts_without_evidence(triples: list[VersionTriple]) -> dict[tuple[int, str], str]:
    """The texts of the expected blocks of which nothing is marked, by revision and block."""
    bare = [row.revision_id for row in triples if not all(block["evidence"] for block in row.content["blocks"])]
    rows = PinnedBlock.objects.filter(revision__in=bare)
    columns = rows.values_list("revision_id", "version__block__outside_id", "version__text")
    return {(revision, block): text for revision, block, text in columns}


def marked_evidence(version: Version, numbers: Mapping[int, int]) -> dict[tuple[int, int], list[str]]:
    """The texts that the version's triples mark in blocks, for the queries in `numbers` that ask their questions.

    By the row of the query, which `numbers` has by its key, and the position of the block.
    """
    triples = {row.revision_id: row for row in VersionTriple.objects.filter(version=version)}
    marked: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for revision, query in asked_queries(triples).items():
        if query.query_id in numbers:
            for block in triples[revision].content["blocks"]:
                marked[numbers[query.query_id], block["block_id"]] += block["evidence"]
    positions = positions_of(version.snapshot, {block for _, block in marked})
    return {(row, positions[block]): texts for (row, block), texts in marked.items() if texts and block in positions}


@dataclass
class HitTable:
    """Values by measure for the triples that the rule says something about, in the order of `labels`.

    With `only` no others than the triples with these labels.
    """

    version: Version
    split: str
    rule: HitRule
    only: Collection[str] | None = None
    _hits: dict[int, Hits] = field(default_factory=dict)
    _values: dict[tuple[int, Measure], Floats] = field(default_factory=dict)

    @cached_property
    def ground(self) -> ExpectedGround:
        return expected_of(self.version, self.split, self.only)

    @cached_property
    def _is_defined(self) -> np.ndarray:
        return find_hits(self.ground.questions, {}, self.rule).is_defined

    @property
    def triples(self) -> list[VersionTriple]:
        return [row for row, known in zip(self.ground.triples, self._is_defined, strict=True) if known]

    @property
    def labels(self) -> list[str]:
        return [row.label for row in self.triples]

    def hits_of(self, run: Run) -> Hits:
        if run.pk not in self._hits:
            returned = returned_for(run, self.ground, self.rule)
            self._hits[run.pk] = find_hits(self.ground.questions, returned, self.rule)
        return self._hits[run.pk]

    def values_of(self, run: Run, measures: Sequence[Measure]) -> Floats:
        """Shape (triples, measures)."""
        hits = self.hits_of(run)
        for measure in measures:
            if (run.pk, measure) not in self._values:
                self._values[run.pk, measure] = measure_hits([measure], hits)[hits.is_defined, 0]
        columns = [self._values[run.pk, measure] for measure in measures]
        return np.column_stack(columns) if columns else np.empty((len(self.labels), 0))
