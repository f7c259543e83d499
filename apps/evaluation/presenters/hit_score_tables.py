"""Data of the pages of a run's scores by triples, and the kinds of questions they are broken down by."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from apps.accounts.selectors import Member
from apps.evaluation.core.basis import rule_name
from apps.evaluation.core.question_kinds import FIELDS, KIND, kinds_of
from apps.evaluation.execution.hit_scoring import RECIPROCAL_RANK
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters.score_tables import ScoredSheet
from apps.evaluation.selectors.expected import flags_of, version_triples
from apps.goldsets.models import VersionTriple
from apps.metrics.columns import Floats, Ints
from apps.metrics.expected.measures import RankBin
from apps.metrics.expected.rules import HitRule
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import FEWEST_FOR_A_VERDICT, Difference, Summary, differences, summaries
from apps.metrics.statistics.strata import open_strata
from apps.triples.selectors.triples import asked_queries

LEVEL = 0.05
RANK_NAME = str(RECIPROCAL_RANK)


@dataclass
class HitSheet(ScoredSheet):
    """One evaluation by a hit rule with its triples."""

    noun = "questions"

    @cached_property
    def triples(self) -> list[VersionTriple]:
        """The measured triples in the order of the values."""
        rows = {row.label: row for row in version_triples(self.evaluation.version, self.evaluation.split)}
        return [rows[label] for label in self.evaluation.query_ids]

    @property
    def splits(self) -> list[str]:
        return [row.split for row in self.triples]

    @cached_property
    def asked(self) -> list[int | None]:
        queries = asked_queries([row.revision_id for row in self.triples])
        return [queries[key].query_id if (key := row.revision_id) in queries else None for row in self.triples]

    @property
    def rule(self) -> HitRule:
        rule = self.evaluation.rule
        assert rule is not None
        return rule

    @property
    def rule_name(self) -> str:
        return rule_name(self.evaluation.hit)

    @property
    def measures(self) -> list[Score]:
        """The scores in the requested order."""
        return [self.scores[name] for name in self.evaluation.measures]

    @cached_property
    def ranks(self) -> Ints:
        """For each triple the rank of its first hit, from 1; 0 for none."""
        values = self.values[RANK_NAME]
        found = values > 0
        ranks = np.zeros(len(values), dtype=np.int64)
        ranks[found] = np.rint(1 / values[found]).astype(np.int64)
        return ranks

    def missed(self, measure: str) -> list[int]:
        """The places of the questions without a hit within the cutoff of a measure, in splits that the person sees.

        One whose ranks are hidden from the person is among them: the page of misses names it without any.
        """
        cutoff = parse_measure(measure).cutoff or 1
        return [place for place, seen in enumerate(self._seen) if seen and not 0 < self.ranks[place] <= cutoff]

    @property
    def bins(self) -> list[RankBin]:
        return [RankBin(*one) for one in self.evaluation.counts["ranks"]]

    @cached_property
    def kinds(self) -> list[list[tuple[str, str]]]:
        flags = flags_of(self.evaluation.version, self.triples)
        return [kinds_of(row.content, source_of(row), flags.get(row.triple_id, ())) for row in self.triples]


def source_of(row: VersionTriple) -> str:
    source = row.triple.source or (row.triple.query.source if row.triple.query else None)
    return source.name if source else ""


def right_of(score: Score) -> int:
    """How many questions a yes-or-no measure says yes to."""
    return round((score.mean or 0.0) * score.n)


def is_yes_or_no(measure: str) -> bool:
    return parse_measure(measure).is_yes_or_no


class KindRow(NamedTuple):
    """The questions of one kind: their number, each run's figure, and the difference of two runs."""

    field: str
    name: str
    n: int
    summaries: tuple[Summary, ...]
    difference: Difference | None

    @property
    def label(self) -> str:
        """Its name on pages: with the field, where it is not about the question itself."""
        return f"{FIELDS[self.field]}: {self.name}" if self.field not in ("", KIND) else self.name

    @property
    def is_clear(self) -> bool:
        return self.difference is not None and is_clear(self.difference)

    def against(self, overall: Difference) -> Difference | None:
        """The difference of this kind where it goes the other way than that of all questions; None where it does not,
        or where so few of its questions differ that nothing could be said of them.
        """
        own = self.difference
        if own is None or own.mean * overall.mean >= 0 or own.tally.moved < FEWEST_FOR_A_VERDICT:
            return None
        return own


def is_clear(difference: Difference) -> bool:
    """Whether a difference is settled: its interval excludes zero, and the exact test says so too."""
    sign_p = difference.tally.sign_p
    return difference.is_clear and sign_p is not None and sign_p < LEVEL


def kind_rows(sheets: Sequence[HitSheet], measure: str) -> list[KindRow]:
    """All questions, then every kind with enough of them: by field, largest first."""
    runs = [sheet.values[measure] for sheet in sheets]
    everything = _kind_row("", "All questions", runs, measure)
    rows = []
    sheet = sheets[-1]
    for field, name in open_strata(sheet.kinds, sheet.is_test, by_subtraction=bool(sheet.sealed), fields=list(FIELDS)):
        inside = np.array([(field, name) in row for row in sheet.kinds])
        rows.append(_kind_row(field, name, [run[inside] for run in runs], measure))
    fields = list(FIELDS)
    return [everything, *sorted(rows, key=lambda row: (fields.index(row.field), -row.n, row.name))]


def kind_facts(evaluation: Evaluation, member: Member) -> list[dict[str, Any]]:
    """The kinds of questions of a scored evaluation as the API has them; empty for one by grades."""
    if not evaluation.counts_questions or not evaluation.is_scored:
        return []
    sheet = HitSheet(evaluation, member)
    by_measure = [kind_rows([sheet], measure)[1:] for measure in evaluation.measures]
    return [
        {
            "field": rows[0].field,
            "name": rows[0].name,
            "n": rows[0].n,
            "scores": [
                {"measure": measure, **row.summaries[0].estimate.as_json}
                for measure, row in zip(evaluation.measures, rows, strict=True)
            ],
        }
        for rows in zip(*by_measure, strict=True)
    ]


def _kind_row(field: str, name: str, runs: Sequence[Floats], measure: str) -> KindRow:
    parsed = [parse_measure(measure)]
    means = tuple(summaries(parsed, run[:, None])[0] for run in runs)
    difference = None
    if len(runs) > 1 and len(runs[0]):
        difference = differences(runs[0][:, None], runs[1][:, None], resamples=0)[0]  # its p is shown nowhere
    return KindRow(field, name, len(runs[0]), means, difference)
