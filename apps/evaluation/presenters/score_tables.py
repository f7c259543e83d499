"""Data of the pages of scores and comparisons, from stored values, with their strata."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.http import QueryDict

from apps.accounts.selectors import Member
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import places_of_entries
from apps.evaluation import rules
from apps.evaluation.core.charts import stratum_bounds
from apps.evaluation.core.robustness import UNNAMED
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters import score_charts as charts
from apps.evaluation.selectors import evaluations, rankings
from apps.evaluation.selectors.rankings import JUDGED_NAME, UNJUDGED_AT, SampledPrecision
from apps.goldsets.access import open_test
from apps.goldsets.core.splits import originals_of
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery
from apps.metrics.columns import TIMES, Floats, Ints
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scoring import conventions
from apps.metrics.statistics.intervals import Draw
from apps.metrics.statistics.significance import Summary, mean_of, weighted_summaries
from apps.metrics.statistics.strata import (
    FEWEST_IN_STRATUM,
    ComparedStratum,
    compare_strata,
    open_strata,
    weighted_to_shares,
)
from apps.queries.core.naming import VARIANT, VARIANT_OF
from apps.queries.core.strata import STRATA, label_of
from apps.querylogs.enums import TRAFFIC
from apps.retrieval.selectors.blinding import hidden_queries

DEPTH = 10
SPLIT, WORDING = "split", "wording"
CLEAN = "clean"
MULTIPLES = 9


def conventions_of(measures: Iterable[str], *, with_ties: bool = True) -> str:
    return conventions([parse_measure(name) for name in measures], with_ties=with_ties)


@dataclass
class ScoredSheet:
    """One evaluation, as far as this person may see it item by item."""

    evaluation: Evaluation
    member: Member
    noun = "queries"

    @property
    def splits(self) -> list[str]:
        """The split of each scored item, in the order of the values."""
        raise NotImplementedError

    @property
    def asked(self) -> list[int | None]:
        """The key of the query that asks each scored item, in the order of the values."""
        raise NotImplementedError

    @cached_property
    def values(self) -> dict[str, Floats]:
        return evaluations.values_of(self.evaluation)

    @cached_property
    def scores(self) -> dict[str, Score]:
        return {score.measure: score for score in self.evaluation.scores.all()}

    @cached_property
    def _seen(self) -> list[bool]:
        """Whether the split of each item is open to this person."""
        return [rules.sees_split(self.member, split) for split in self.splits]

    @property
    def is_test(self) -> list[bool]:
        return [split == Split.TEST for split in self.splits]

    @cached_property
    def hidden(self) -> list[str]:
        """For each item why the person may know no rank of it; "" where they may."""
        snapshot = self.evaluation.version.snapshot
        queries = hidden_queries(self.member.user, snapshot, [key for key in self.asked if key is not None])
        return ["" if key is None else queries.get(key, "") for key in self.asked]

    @cached_property
    def visible(self) -> list[bool]:
        """Whether this person may see values of each item by itself: the one place that decides."""
        return [seen and not hidden for seen, hidden in zip(self._seen, self.hidden, strict=True)]

    @property
    def sealed(self) -> str:
        """Why the items of the test split are not shown one by one; "" where they are."""
        return "" if all(self._seen) else rules.SEALED

    @property
    def hidden_words(self) -> str:
        """Why some items of an open split are not shown one by one; "" where all are."""
        reasons = [why for why, seen in zip(self.hidden, self._seen, strict=True) if why and seen]
        return rules.hidden_words(reasons, self.noun)

    @cached_property
    def budgeted(self) -> str:
        """What the figures are worth where a pool had a budget; "" where none had."""
        return evaluations.budget_words(self.evaluation.version, self.evaluation.hit)

    @cached_property
    def sampled(self) -> SampledPrecision | None:
        """P@k as a random sample of pairs says, where a pool of the version is one."""
        return rankings.sampled_precision(self.evaluation) if self.budgeted else None

    @property
    def withheld(self) -> list[str]:
        """The sentences that say what is not shown one by one, and why."""
        return [words for words in (self.sealed, self.hidden_words) if words]

    @property
    def shows_test(self) -> bool:
        """Whether this page shows sealed scores of single items: such a look is logged."""
        return any(shown and split != Split.DEV for shown, split in zip(self.visible, self.splits, strict=True))


@dataclass
class EvaluationSheet(ScoredSheet):
    """One evaluation by grades with its queries."""

    @property
    def splits(self) -> list[str]:
        return [query.split for query in self.queries]

    @property
    def asked(self) -> list[int | None]:
        return [query.query_id for query in self.queries]

    @cached_property
    def queries(self) -> list[VersionQuery]:
        """The scored queries in the order of the values."""
        rows = rankings.version_queries(self.evaluation.version, self.evaluation.split)
        by_id = {row.outside_id: row for row in rows}
        return [by_id[query_id] for query_id in self.evaluation.query_ids]

    @property
    def left_out(self) -> list[str]:
        """What measures of attributes leave out, and to which day ages count where queries have none."""
        evaluation = self.evaluation
        if not any(TIMES in parse_measure(name).entry.needs for name in evaluation.measures):
            return evaluation.left_out
        undated = sum(not query.fields.get("asked_on") for query in self.queries)
        if not undated:
            return evaluation.left_out
        snapshot, of = evaluation.version.snapshot, len(self.queries)
        which = f"{undated:,} of {of:,} queries {'has' if undated == 1 else 'have'} no date: age counts there"
        when = f"to the freezing of {snapshot.name}, {snapshot.frozen_at:%Y-%m-%d}"
        return [*evaluation.left_out, f"{which} {when}."]

    @property
    def judged(self) -> Score | None:
        return self.scores.get(JUDGED_NAME)

    @property
    def unjudged(self) -> list[tuple[int, float | None]]:
        """The mean share of unjudged blocks in the first k results, for a few k."""
        shares = self.evaluation.counts["judged_to"]
        judged = [(depth, shares[depth - 1]) for depth in UNJUDGED_AT]
        return [(depth, None if share is None else 1 - share) for depth, share in judged]


def log_look(sheet: ScoredSheet, what: str) -> None:
    """Log the look if the page shows its reader scores that are sealed to others."""
    if sheet.shows_test:
        version = sheet.evaluation.version
        open_test(version, sheet.member, what)


def shallow_words(measures: Sequence[str], evaluation: Evaluation) -> str:
    """The measures that look deeper than any ranking of the run; "" where there is none.

    A ranking of the whole snapshot counts as deep enough for any cutoff.
    """
    deepest = rankings.deepest_of(evaluation.run)
    most = evaluation.version.snapshot.block_count
    names = [name for name in measures if deepest < min(parse_measure(name).cutoff or 0, most)]
    if not names or not deepest:
        return ""
    read, results = "reads" if len(names) == 1 else "read", "result" if deepest == 1 else "results"
    return f"{', '.join(names)} {read} {deepest:,} {results}: no ranking of {evaluation.run.tag} is longer."


class Named(NamedTuple):
    """A block with the name that pages show. `document` also tells it apart from others of its title.

    `label` is for places that show no document beside it: with the document only where it shares its title.
    """

    pk: int
    title: str
    document: str
    label: str
    version: BlockVersion


def block_names(snapshot: Snapshot, positions: Iterable[int]) -> dict[int, Named]:
    """The blocks at these positions with their names, and the document or more that tells equal titles apart."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, position__in=list(positions))
    entries = list(rows.select_related("version", "block__document"))
    places = places_of_entries(entries)
    shared = Counter(row.name for row in entries)
    named = {}
    for row in entries:
        row.version.block = row.block
        place = places[row.block_id]
        label = f"{row.name} ({place})" if place and shared[row.name] > 1 else row.name
        named[row.position] = Named(row.block_id, row.name, place, label, row.version)
    return named


class Weighting(NamedTuple):
    """The shares of strata that somebody asks for, in percent as written, and the mean of each run by them.

    `names` are those of the runs; `fault` is a sentence where the shares cannot be read.
    """

    written: list[tuple[str, str]]
    means: list[tuple[str, Summary]]
    fault: str = ""


def weighting_of(strata: Sequence[ComparedStratum], written: Sequence[str], names: Sequence[str]) -> Weighting:
    """Shares are divided by their sum. Without any the fields have those of the queries, and nothing is weighted."""
    total = sum(one.n for one in strata)
    if len(written) != len(strata):
        return Weighting([(one.name, f"{one.n / total:.1%}".removesuffix("%")) for one in strata], [])
    fields = [(one.name, text.strip()) for one, text in zip(strata, written, strict=True)]
    shares = []
    for name, text in fields:
        try:
            share = float(text.replace(",", ".") or 0)
        except ValueError:
            share = math.nan
        if not 0 <= share < math.inf:
            return Weighting(fields, [], f"The share of {name} is “{text}”. Give a number from 0 on.")
        shares.append(share)
    if not any(shares):
        return Weighting(fields, [], "Give at least one group a share above 0.")
    found = weighted_to_shares(strata, [share / math.fsum(shares) for share in shares])
    return Weighting(fields, list(zip(names, found, strict=True)))


def strata_context(
    asked: QueryDict, sheets: Sequence[EvaluationSheet], measure: str, names: Sequence[str]
) -> dict[str, Any]:
    """Context of `_strata.html`: the means of each run in every stratum of the requested field, else of the first.

    `asked` has the field as `by`, and as `share` the shares that the strata shown are to be weighted to. The queries
    are those of the last sheet: all are of the same.
    """
    field_name = asked.get("by", "")
    queries, runs = sheets[-1].queries, [sheet.values[measure] for sheet in sheets]
    fields = fields_of(queries)
    field = field_name if field_name in fields else next(iter(fields), "")
    labels = open_labels(sheets[-1])[field] if field else [""] * len(queries)
    originals = originals_of({query.outside_id: query.fields.get("metadata") or {} for query in queries})
    strata, _ = compare_strata(labels, runs, parse_measure(measure), originals)
    strata = strata[:MULTIPLES]
    small = len({stratum_of(query, field) for query in queries} - {"", *labels}) if field else 0
    judged = judged_inside(labels, strata, [sheet.values[JUDGED_NAME] for sheet in sheets])
    bounds = stratum_bounds(strata)
    return {
        "strata_fields": fields,
        "strata_field": field,
        "strata": [(one, charts.stratum(one, names, bounds), judged[at]) for at, one in enumerate(strata)],
        "strata_figures": charts.strata_figures(strata, names),
        "traffic": traffic_of(sheets[-1], runs, names),
        "weighting": weighting_of(strata, asked.getlist("share"), names) if len(strata) > 1 else None,
        "small_strata": small,
        "fewest": FEWEST_IN_STRATUM,
    }


class Traffic(NamedTuple):
    """The mean of each run weighted to the traffic of search logs, by name, over so many of the queries."""

    means: list[tuple[str, Summary]]
    queries: int


class Drawn(NamedTuple):
    """The queries that were drawn from logs: their rows, the searches each stands for, and how they were drawn.

    A query that was drawn twice, in two wordings, is there twice.
    """

    rows: Ints
    weights: Floats
    draw: Draw


def drawn_among(metadata: Sequence[Mapping[str, Any]]) -> Drawn:
    """Those of the queries, given by their metadata, that were drawn from a log. Each weighs searches / chance."""
    found = [(row, one) for row, facts in enumerate(metadata) for one in facts.get(TRAFFIC, [])]
    names = [f"{one['log']}: {one['stratum']}" for _, one in found]
    chances = np.array([one["chance"] for _, one in found], dtype=np.float64)
    searches = np.array([one["searches"] for _, one in found], dtype=np.float64)
    strata = np.unique(np.array(names), return_inverse=True)[1].astype(np.int64)
    return Drawn(np.array([row for row, _ in found], dtype=np.int64), searches / chances, Draw(chances, strata))


def traffic_means(drawn: Drawn, runs: Sequence[Floats]) -> list[Summary]:
    """The mean of each run over all searches that the drawn queries stand for, estimated as Hájek (1971) has it."""
    values = np.column_stack([run[drawn.rows] for run in runs])
    return weighted_summaries(values, drawn.weights, draw=drawn.draw)


def traffic_of(sheet: EvaluationSheet, runs: Sequence[Floats], names: Sequence[str]) -> Traffic | None:
    """None where too few of the queries were drawn from a log, or so few of the sealed ones that a mean would tell."""
    drawn = drawn_among([query.fields.get("metadata") or {} for query in sheet.queries])
    rows = np.unique(drawn.rows)
    sealed = int(np.array(sheet.is_test, dtype=bool)[rows].sum()) if len(rows) else 0
    if len(rows) < FEWEST_IN_STRATUM or 0 < sealed < FEWEST_IN_STRATUM:
        return None
    return Traffic(list(zip(names, traffic_means(drawn, runs), strict=True)), len(rows))


def fields_of(queries: Sequence[VersionQuery]) -> dict[str, str]:
    """The fields with more than one stratum among these queries."""
    words = {**STRATA, SPLIT: "Split", WORDING: "Wording"}
    return {
        field: word for field, word in words.items() if len({stratum_of(query, field) for query in queries} - {""}) > 1
    }


def stratum_of(query: VersionQuery, field: str) -> str:
    """The stratum of a query, empty for none. A query has clean wording unless it is a variant."""
    if field == SPLIT:
        return query.split
    if field == WORDING:
        facts = query.fields.get("metadata") or {}
        return str(facts.get(VARIANT) or UNNAMED) if facts.get(VARIANT_OF) else CLEAN
    return label_of(query.fields, field)


def open_labels(sheet: EvaluationSheet) -> dict[str, list[str]]:
    """For each field the stratum of each query, "" for none and for those that would tell of single test queries."""
    queries = sheet.queries
    labels = {field: [stratum_of(query, field) for query in queries] for field in fields_of(queries)}
    rows = [[(field, own[at]) for field, own in labels.items() if own[at]] for at in range(len(queries))]
    shown = set(open_strata(rows, sheet.is_test, by_subtraction=bool(sheet.sealed), fields=list(labels)))
    return {field: [label if (field, label) in shown else "" for label in own] for field, own in labels.items()}


def judged_inside(
    labels: Sequence[str], strata: Sequence[ComparedStratum], judged: Sequence[Floats]
) -> list[list[float | None]]:
    """For each stratum the mean share of judged blocks of each run, over the queries with results of the run."""
    names = np.array(labels, dtype=object)
    return [[mean_of(run[(names == one.name) & ~np.isnan(run)]) for run in judged] for one in strata]
