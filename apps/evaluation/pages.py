"""What the pages of scores and comparisons show, gathered from stored values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from apps.accounts.selectors import Member
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.evaluation import charts, comparing, rules, selectors
from apps.evaluation.bias import UNJUDGED_AT
from apps.evaluation.columns import Floats
from apps.evaluation.measures import parse_measure
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.scoring import conventions
from apps.evaluation.selectors import JUDGED_NAME, Standing
from apps.goldsets.models import VersionQuery

STRATA = {"domain": "Domain", "query_type": "Type", "difficulty": "Difficulty", "source": "Source"}
MULTIPLES = 9
DEPTH = 10


def conventions_of(measures: Iterable[str]) -> str:
    return conventions([parse_measure(name) for name in measures])


class BoardRow(NamedTuple):
    """A run on a leaderboard as it is drawn."""

    standing: Standing
    main: Score | None
    drawing: str
    others: list[Score | None]


@dataclass
class Board:
    """The runs of one side of a version, best first by the main measure."""

    measures: list[str]
    standings: list[Standing]

    @property
    def main(self) -> str:
        return self.measures[0]

    @cached_property
    def bounds(self) -> charts.Bounds:
        scores = [standing.scores[self.main] for standing in self.standings if self.main in standing.scores]
        ends = [end for score in scores for end in (score.ci_low, score.mean, score.ci_high) if end is not None]
        return charts.bounds_of(ends)

    @property
    def head(self) -> str:
        return charts.head_cell(self.bounds)

    @property
    def rows(self) -> list[BoardRow]:
        found = []
        for standing in self.standings:
            main = standing.scores.get(self.main)
            drawing = charts.score_cell(standing.run.tag, main, self.bounds) if main and main.mean is not None else ""
            others = [standing.scores.get(name) for name in self.measures[1:]]
            found.append(BoardRow(standing, main, drawing, others))
        return found

    @property
    def conventions(self) -> str:
        return conventions_of(self.measures)


def board(evaluations: Iterable[Evaluation], first: str) -> Board | None:
    measures, standings = selectors.standings(evaluations, first)
    return Board(measures, standings) if standings else None


def strata_of(
    queries: Sequence[VersionQuery], field: str, runs: Sequence[Floats]
) -> tuple[list[comparing.Stratum], int]:
    labels = [str(query.fields.get(field) or "") for query in queries]
    found, small = comparing.strata(labels, runs)
    return found[:MULTIPLES], small


def strata_fields(queries: Sequence[VersionQuery]) -> dict[str, str]:
    """The kinds of strata that tell these queries apart."""
    return {
        field: word
        for field, word in STRATA.items()
        if len({query.fields.get(field) for query in queries if query.fields.get(field)}) > 1
    }


@dataclass
class Sheet:
    """One evaluation with its queries, as far as a person may see them."""

    evaluation: Evaluation
    member: Member

    @cached_property
    def queries(self) -> list[VersionQuery]:
        """The scored queries in the order of the values."""
        rows = selectors.version_queries(self.evaluation.version, self.evaluation.split)
        by_id = {row.outside_id: row for row in rows}
        return [by_id[query_id] for query_id in self.evaluation.query_ids]

    @cached_property
    def values(self) -> dict[str, Floats]:
        return selectors.values_of(self.evaluation)

    @cached_property
    def scores(self) -> dict[str, Score]:
        return {score.measure: score for score in self.evaluation.scores.all()}

    @property
    def judged(self) -> Score | None:
        return self.scores.get(JUDGED_NAME)

    @property
    def unjudged(self) -> list[tuple[int, float | None]]:
        """The mean share of the first k results that nobody judged, for a few k."""
        shares = self.evaluation.counts["judged_to"]
        found = [(depth, shares[depth - 1]) for depth in UNJUDGED_AT]
        return [(depth, None if share is None else 1 - share) for depth, share in found]

    @cached_property
    def visible(self) -> list[bool]:
        return [rules.sees_split(self.member, query.split) for query in self.queries]

    @property
    def hidden_count(self) -> int:
        return self.visible.count(False)

    @property
    def shows_test(self) -> bool:
        """Whether this page lays open what is sealed to others: such a look is logged."""
        return any(shown and query.split != "dev" for shown, query in zip(self.visible, self.queries, strict=True))


class Named(NamedTuple):
    """A block as people know it."""

    pk: int
    title: str
    document: str


def block_names(snapshot: Snapshot, positions: Iterable[int]) -> dict[int, Named]:
    """The blocks at these positions, by their titles, or their outside ids where there is none."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, position__in=list(positions))
    rows = rows.select_related("version", "block__document")
    return {
        row.position: Named(row.block_id, row.version.title or row.block.outside_id, str(row.block.document))
        for row in rows
    }
